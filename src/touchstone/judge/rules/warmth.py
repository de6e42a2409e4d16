"""Rules on warmth: whether a contender was warm, and its rate level, when it was measured."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import PossibleBias, Severity, SteadyState
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.drift import HalfTrend, drift
from touchstone.judge.reading.left_over import is_of_the_machine
from touchstone.judge.rule import Fired, on_group, on_sample
from touchstone.record.evidence.slices import WarmUp
from touchstone.record.sample import Sample

_HALVES = (
    "in a closed loop with windows too short for changepoint analysis, the second half's rate is {} than the first "
    "half's. The difference is more than 10 % in at least two thirds of the rounds (of which there are three or "
    "more), and more than 15 % in the median round"
)
_HALVES_REASON = (
    "on a busy machine the halves of one second differ by 10 to 20 %, upwards as often as downwards. Three times in "
    "the same direction are unlikely to be chance"
)
_SHAPE = "in more than half of the rounds, changepoint analysis finds {}"
_NOTE = (
    ". It is a note if other processes explain half of the change: they used more of the contender's CPUs, and the "
    "contender's CPU per request did not rise"
)
_SHAPE_REASON = (
    "changes below the margin do not count. On a shared machine three windows in a hundred look like this by chance. "
    "In a run with nine pairs of contender and load, hardly any pair has three such rounds of four by chance"
)


@on_group(
    "still-rising",
    Severity.SUSPECT,
    title="The rate was still rising",
    threshold=_HALVES.format("higher"),
    threshold_reason=_HALVES_REASON,
    next_step=(
        "Use the normal or the thorough preset. The present figures are those of a process that is not yet warm."
    ),
)
def still_rising(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A quick run is too short for changepoint analysis.

    But it can show that a runtime is compiling.

    Rate, latency and CPU time are then those of a process that is not yet warm, and often many times worse than in
    steady state.
    """
    if trend := drift(group, case):
        doubt = PossibleBias(faster=None, reason="the rate may still rise by any amount")
        yield Fired(_halves(trend, "faster"), figures=[*SPEED, *CPU], doubt=doubt, evidence={"rises": trend.by_sample})


@on_group(
    "still-falling",
    Severity.SUSPECT,
    title="The contender got slower while it was measured",
    threshold=_HALVES.format("lower"),
    threshold_reason=_HALVES_REASON,
    next_step=(
        "Measure longer (`--thorough`) to see where the rate settles, and look at what grows with the number of "
        "requests."
    ),
)
def still_falling(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A quick run is too short for changepoint analysis.

    But it can show that the service becomes slower.

    The cause, such as a growing table, a queue or a contended lock, will make it slower still after the window.
    """
    if trend := drift(group, case, falling=True):
        doubt = PossibleBias(slower=None, reason="the decline continues with each further request")
        yield Fired(_halves(trend, "slower"), figures=[*SPEED, *CPU], doubt=doubt, evidence={"falls": trend.by_sample})


def _halves(trend: HalfTrend, how: str) -> str:
    return (
        f"in {trend.rounds} of {len(trend.by_sample)} round(s) the second half of the window was {how} than the first, "
        f"by {share(trend.middle)} in the median round"
    )


@on_group(
    "warm-up-in-window",
    Severity.SUSPECT,
    title="The contender was still warming up in the window",
    threshold=_SHAPE.format("a warm-up") + _NOTE,
    threshold_reason=_SHAPE_REASON,
    next_step="Lengthen the warm-up (`warmup_s` of the load). The present figures include the warm-up.",
)
def warm_up_in_window(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A runtime that is still compiling is slower than in steady state. A mean over both describes neither."""
    hits, seen = case.shaped(group, "warm-up")
    if machine := _by_the_machine(group, case, hits):
        yield machine
        return
    for hit in hits:
        yield Fired(
            f"the contender was slower at the start of the window in {len(hits)} of {seen} round(s), by "
            f"{share(1 - min(hit.levels))} in this round",
            sample=next(sample for sample in group.samples if sample.id == hit.sample),
            figures=[*SPEED, *CPU],
            doubt=PossibleBias(
                faster=1 / min(hit.levels),
                slower=max(hit.levels),
                reason="the last level is that of the warm service",
            ),
            evidence={"changepoints_s": hit.changepoints_s, "levels": hit.levels},
        )


@on_group(
    "slowdown-in-window",
    Severity.SUSPECT,
    title="The server became slower within the window",
    threshold=_SHAPE.format("a slowdown") + _NOTE,
    threshold_reason=_SHAPE_REASON,
    next_step="Look for growing tables, queues, heaps and logs. Measure longer to see where the rate settles.",
)
def slowdown_in_window(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """If a server becomes slower under load, its rate depends on the length of the load."""
    hits, seen = case.shaped(group, "slowdown")
    if machine := _by_the_machine(group, case, hits):
        yield machine
    elif hits:
        most = max(level for hit in hits for level in hit.levels)
        yield Fired(
            f"the contender was faster at the start of the window in {len(hits)} of {seen} round(s)",
            figures=[*SPEED, *CPU],
            doubt=PossibleBias(faster=most, slower=None, reason="the rate may still fall by any amount"),
            evidence=_changes(hits),
        )


@on_group(
    "no-steady-state",
    Severity.SUSPECT,
    title="No steady state was reached",
    threshold=_SHAPE.format("no steady state"),
    threshold_reason=(
        "in steady state, the rate stays within the margin over the last three tenths of the window. Chance may "
        "disturb single rounds, but not most of them"
    ),
    next_step=(
        "Lengthen warm-up and window (`--thorough`). If the rate never settles, report the range instead of a figure."
    ),
)
def no_steady_state(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """The rate was still changing near the end of the window.

    A longer or shorter window would give a different figure.
    """
    hits, seen = case.shaped(group, "no steady state")
    if hits:
        how = f"the rate still changed near the end of the window in {len(hits)} of {seen} round(s)"
        yield Fired(how, figures=[*SPEED, *CPU], evidence=_changes(hits))


def _by_the_machine(group: SampleGroup, case: Case, hits: list[SteadyState]) -> Fired | None:
    """A note on the machine if it explains the change in most rounds, else None."""
    samples = {sample.id: sample for sample in group.samples}
    machine = [hit for hit in hits if is_of_the_machine(samples[hit.sample], hit, case.run.environment.cpus)]
    if not hits or len(hits) - len(machine) > len(case.steady_of(group)) / 2:
        return None
    return Fired(
        f"in {len(machine)} of {len(hits)} round(s) the machine caused the change of the rate: other processes took "
        "more CPU time while the contender was slower",
        severity=Severity.NOTE,
        figures=[],
        evidence=_changes(hits),
    )


def _changes(hits: list[SteadyState]) -> dict[str, object]:
    return {"samples": [hit.sample for hit in hits], "changepoints_s": [hit.changepoints_s for hit in hits]}


@on_sample(
    "still-warming-up",
    Severity.SUSPECT,
    title="The warm-up ran out of time while the contender was still getting faster",
    threshold=(
        "when the warm-up of a load in slices ended, the contender had not reached a steady state. From one stretch "
        "to the next, CPU per request fell by 3 % or more, or the rate grew by 10 % (3 % if the CPU is not known), "
        "or the contender was still busy while it had no load"
    ),
    threshold_reason=(
        "on an ordinary machine, noise hides changes below 3 %. A contender that changes by more is still far from "
        "its steady state. Other processes can change a rate by 10 %"
    ),
    next_step="Use a longer preset. For the figures of a process that is not yet warm use the phase `peak`.",
    phases=("load",),
)
def still_warming_up(sample: Sample, case: Case) -> Iterator[Fired]:
    """The runtime was still compiling during the measurement, so its steady state may be faster.

    A comparison can then call the contender better, but not worse. If it was warm in most rounds, and in at least
    three, the comparison uses only those rounds.
    """
    warm_up = sample.slices.warm_up if sample.slices else None
    if warm_up is None or warm_up.ended != "budget":
        return
    yield Fired(
        f"after {seconds(warm_up.seconds)} and {number(warm_up.requests)} requests of warm-up, {_still(warm_up)}",
        figures=[*SPEED, *CPU],
        doubt=PossibleBias(faster=None, this_round=True, reason="the rate may still rise by any amount"),
        evidence=warm_up.model_dump(),
    )


def _still(warm_up: WarmUp) -> str:
    """What still changed when the time was used up."""
    if warm_up.cpu_saved is not None and warm_up.cpu_saved >= (warm_up.growth or 0.0):
        return f"the CPU per request still fell, by {share(warm_up.cpu_saved)} at the end"
    if warm_up.busy_without_load and (warm_up.growth or 0.0) <= 0:
        return "the contender still worked in its pauses"
    grew = "" if warm_up.growth is None else f", by {share(warm_up.growth)} at the end"
    return f"the rate still rose{grew}"


@on_group(
    "window-too-short",
    Severity.NOTE,
    title="The window is too short to recognise a steady state",
    threshold="the windows of all rounds have fewer than 8 points or are shorter than 5 s",
    threshold_reason=(
        "changepoint analysis needs three points on either side of a change. In a shorter window a pause of a "
        "garbage collector would look like a change"
    ),
    next_step="Use the normal or the thorough preset.",
)
def window_too_short(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """The window is too short to see whether a runtime has finished compiling."""
    seen = case.steady_of(group)
    # The name of a quick run says that it is short.
    if seen and all(s.shape == "too short" for s in seen) and case.run.plan.profile != "quick":
        yield Fired(f"the windows of all {len(seen)} round(s) are too short to recognise a steady state")
