"""Rules on CPU profiles."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from touchstone.attribution.category import Category
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.rule import Fired, on_group
from touchstone.judge.statistics.intervals import mean_interval
from touchstone.judge.why.spending import spending


@on_group(
    "profile-copy-differs",
    Severity.SUSPECT,
    title="The profiled copy differs from the original",
    threshold=(
        "without a profiler, the copy's CPU per request differs from the original's by more than the run's margin. "
        "With two rounds or more, the 95 % interval of the difference must also exclude 0"
    ),
    threshold_reason=(
        "the margin is the least effect that matters. The two passes run one after the other, so a single round can "
        "differ by noise"
    ),
    next_step="Change the flags in the variant's `profiled` to ones that cost less, or measure more rounds.",
    phases=("profile",),
)
def profile_copy_differs(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A profiler needs symbols and frame pointers.

    Most programs are shipped without them, so touchstone profiles a copy that has them. They can change the generated
    code. If the copy uses a different amount of CPU per request, its profile is not that of the original.
    """
    costs = [s.figures["profile_copy_cost"] for s in group.samples if "profile_copy_cost" in s.figures]
    if costs and abs(cost := statistics.median(costs)) > case.margin and not _may_be_none(costs, case.confidence):
        yield Fired(
            f"the profiled copy takes {share(abs(cost))} {'more' if cost > 0 else 'less'} CPU per request than the "
            "original",
            figures=["profile_copy_cost"],
            evidence={"costs": costs, "margin": case.margin},
        )


def _may_be_none(costs: Sequence[float], confidence: float) -> bool:
    """Whether rounds scatter so that there may be no difference; one alone cannot say so."""
    interval = mean_interval(costs, confidence)
    return interval is not None and interval.low <= 0 <= interval.high


@on_group(
    "profile-missing",
    Severity.NOTE,
    title="There is no profile",
    threshold="no round has sampled stacks",
    threshold_reason="a single round with stacks is enough for a profile without intervals",
    next_step="Follow the advice in the finding, then run the phase `profile` again.",
    phases=("profile",),
)
def profile_missing(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A profiler needs a kernel permission, symbols, and a process to attach to.

    If one of these is missing, touchstone still measures CPU per request and the counters.
    """
    profiles = [sample.profile for sample in group.samples if sample.profile]
    if profiles and not any(one.stacks and one.stacks.samples for one in profiles):
        reason = next((one.not_profiled for one in profiles if one.not_profiled), "nothing was sampled")
        yield Fired(reason, figures=["profiler_cost"])


PROFILE_UNMATCHED_SHARE = 0.05


@on_group(
    "profile-unmatched",
    Severity.NOTE,
    title="Much of the CPU time is in functions that touchstone cannot classify",
    threshold="more than 5 % of the sampled CPU is in functions that match no pattern",
    threshold_reason="an unmatched share below 5 % cannot hide a category that matters",
    next_step=(
        "Look at the names of the functions. If they are missing, build a copy with symbols (`profiled` in "
        "stack.toml). Otherwise add a row to the language's table in attribution/tables."
    ),
    phases=("profile",),
)
def profile_unmatched(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Functions are assigned to categories by tables of name patterns.

    The report shows functions that match no pattern as *unmatched*.
    """
    spent = [one for sample in group.samples if sample.profile and (one := spending(sample.profile))]
    total = sum(one.subject for one in spent)
    frames: dict[str, float] = {}
    for one in spent:
        for name, seconds in one.unmatched.items():
            frames[name] = frames.get(name, 0.0) + seconds
    if not total or (found := sum(frames.values()) / total) <= PROFILE_UNMATCHED_SHARE:
        return
    largest = sorted(frames, key=lambda name: -frames[name])[:5]
    yield Fired(
        f"{share(found)} of the CPU time is in functions of no known category, mainly {', '.join(largest)}",
        figures=[],
        evidence={"frames": {name: frames[name] / total for name in largest}},
    )


@on_group(
    "profile-unseen",
    Severity.NOTE,
    title="The profiler saw only a part of the CPU",
    threshold="in a round the profiler could not see all CPU",
    threshold_reason="even a small unseen share makes the parts differ from those of another profiler",
    next_step="Follow the advice in the finding to get a better profiler, then run the phase `profile` again.",
    phases=("profile",),
)
def profile_unseen(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Without async-profiler, touchstone profiles a JVM by JFR, which sees only Java code.

    The CPU of the kernel, of native libraries and of the JVM's own threads is then one part of the profile. That part
    cannot be compared with the finer parts of another contender; the other parts can. For Python, perf shows function
    names from CPython 3.12 on, and stacks if Python is built with frame pointers. For other runtimes it shows C
    functions: the allocator, the runtime, libraries.
    """
    profiles = [sample.profile for sample in group.samples if sample.profile and sample.profile.unseen]
    spent = [one for profile in profiles if (one := spending(profile))]
    if not spent:
        return
    unseen = sum(one.categories.get(Category.UNSEEN, 0.0) for one in spent) / sum(one.subject for one in spent)
    unseen_share = f"{share(unseen)} of the CPU time was not attributed. " if unseen else ""
    yield Fired(f"{unseen_share}{profiles[0].unseen}", figures=[], evidence={"unseen": unseen})


_PROFILER_COSTLY_SHARE = 0.05


@on_group(
    "profiler-costly",
    Severity.SUSPECT,
    title="The profiler slowed the program",
    threshold="CPU per request with the profiler is more than 5 % above that in the passes without it",
    threshold_reason="differences of a few percent in a part matter, so a profiler must cost less than that",
    next_step=(
        "Do not rely on small differences between parts. At a lower request rate, or on a quieter machine, the "
        "profiler may cost less."
    ),
    phases=("profile",),
)
def profiler_costly(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A profiler interrupts the program about 1000 times per CPU second to read its stack.

    Deep stacks and short functions are slowed down more than others.
    """
    costs = [s.figures["profiler_cost"] for s in group.samples if "profiler_cost" in s.figures]
    if costs and (cost := statistics.median(costs)) > _PROFILER_COSTLY_SHARE:
        yield Fired(
            f"the contender takes {share(cost)} more CPU per request with the profiler than without",
            figures=["profiler_cost"],
            evidence={"costs": costs},
        )
