"""Rules on starts: when a contender starts, and what a start shows."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import BOOT_TIME
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import seconds, size
from touchstone.judge.language.sentences import how_broken
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.boot_result import BootRun
from touchstone.record.sample import Sample

_BOOT_IMPOSSIBLE_TOLERANCE = 1.05


@on_sample(
    "boot-impossible",
    Severity.INVALID,
    title="The figures of a start contradict each other",
    threshold="the first response came before the port was open, or PSS or anonymous memory is more than 5 % above RSS",
    threshold_reason=(
        "both are impossible. 5 % are allowed because touchstone reads the fields one after another while memory "
        "changes"
    ),
    next_step="The record contradicts itself. Measure again, and if it happens again, report it with the record.",
    phases=("boot",),
)
def boot_impossible(sample: Sample, case: Case) -> Iterator[Fired]:
    """A port opens before the first response, and no part of memory exceeds the total."""
    for run in sample.boot.runs if sample.boot else []:
        problem = _contradiction(run)
        if problem:
            yield Fired(problem, evidence=run.model_dump(exclude_none=True))
            return


def _contradiction(run: BootRun) -> str | None:
    if run.first_response_s is not None and run.port_open_s is not None and run.first_response_s < run.port_open_s:
        return (
            f"the first response came {seconds(run.first_response_s)} after the start, "
            f"but the port opened only after {seconds(run.port_open_s)}"
        )
    for name, value in (("PSS", run.pss), ("anonymous memory", run.anon)):
        if run.rss and value and value > _BOOT_IMPOSSIBLE_TOLERANCE * run.rss:
            return f"{name} of {size(value)} is larger than RSS of {size(run.rss)}"
    return None


_BOOTS_FAILED_SHARE = 0.1


@on_sample(
    "boots-failed",
    Severity.SUSPECT,
    title="Some starts gave no correct response",
    threshold="any start ended in a failure: suspect; a tenth of the starts or more: invalid",
    threshold_reason=(
        "starts on an idle machine do not fail by chance. Without a tenth of the starts, the median is not reliable "
        "enough for a comparison"
    ),
    next_step="Read the evidence of the failed start and the boot log.",
    phases=("boot",),
)
def boots_failed(sample: Sample, case: Case) -> Iterator[Fired]:
    """A failed start has no time and is not in the median.

    Without this finding, a service that sometimes fails to start would look reliable.
    """
    runs = sample.boot.runs if sample.boot else []
    failed = [r for r in runs if r.failure]
    if not failed or sample.failure is not None:
        return
    kinds = ", ".join(sorted({str(r.failure) for r in failed}))
    yield Fired(
        f"{len(failed)} of {len(runs)} starts failed ({kinds})",
        severity=Severity.INVALID if len(failed) >= _BOOTS_FAILED_SHARE * len(runs) else Severity.SUSPECT,
        evidence={"runs": [r.model_dump(exclude_none=True) for r in failed[:3]]},
    )


@on_sample(
    "cache-not-cold",
    Severity.INVALID,
    title="The page cache was not dropped for a cold start",
    threshold="there is a figure for a cold start, but the page cache was not dropped for any start",
    threshold_reason="the record states whether the cache was dropped",
    next_step="Give touchstone the right to drop page caches, or leave the figure out.",
    phases=("boot",),
)
def cache_not_cold(sample: Sample, case: Case) -> Iterator[Fired]:
    """If the program is in the page cache, a start reads nothing from disk. Such a start is warm."""
    if "boot_first_response_cold" not in sample.figures or sample.boot is None:
        return
    if not any(r.cold_cache for r in sample.boot.runs):
        yield Fired(
            "the figure for a cold start comes from starts with a warm page cache",
            figures=["boot_first_response_cold"],
            evidence={"starts": len(sample.boot.runs)},
        )


_READY_TOO_EARLY_LEAST_S = 0.5
_READY_TOO_EARLY_TIMES = 4


@on_sample(
    "ready-too-early",
    Severity.INVALID,
    title="The first response came before the service was ready",
    threshold=(
        "touchstone sends requests right after the first right response to the ready request. A request of a load "
        "gets a wrong response, or a check of the contract fails that passed before: invalid. A request of a load "
        "takes longer than the whole start, longer than 0.5 s, and longer than four times the load's p99: suspect"
    ),
    threshold_reason=(
        "a service that cannot do its work yet has not started, and neither has one that leaves most of its start to "
        "the first request. Half a second is longer than a first request needs to connect to a dependency and to "
        "load classes"
    ),
    next_step="Make `ready` a request that does the work, or let the service respond only when it can do the work.",
    own_failure=True,
    phases=("boot",),
)
def ready_too_early(sample: Sample, case: Case) -> Iterator[Fired]:
    """A start time is meaningless if the service reports too early that it is ready.

    For example, it answers the ready request at once, and all other requests with 503.
    """
    never = {
        check.id
        for verified in case.run.samples
        if verified.phase == "verify" and verified.contender == sample.contender
        for check in verified.checks
        if not check.passed
    }
    broken = [check for check in sample.checks if not check.passed and check.id not in never]
    if broken:
        yield Fired(
            "right after its first response, the service failed "
            f"{', '.join(repr(c.id) for c in broken)}{how_broken(broken[0])}",
            evidence={"checks": [c.model_dump() for c in broken[:3]]},
        )
    yield from _left_to_the_first_request(sample, case)


def _left_to_the_first_request(sample: Sample, case: Case) -> Iterator[Fired]:
    start_s = sample.figures.get("boot_first_response")
    for check in sample.checks if start_s else []:
        later = [
            loaded.figures["latency_p99"]
            for loaded in case.run.samples
            if f"load-{loaded.load}" == check.id
            and loaded.contender == sample.contender
            and "latency_p99" in loaded.figures
        ]
        first_s = check.longest_s or 0.0
        if (
            not later
            or not start_s
            or first_s <= max(_READY_TOO_EARLY_LEAST_S, start_s, _READY_TOO_EARLY_TIMES * max(later))
        ):
            continue
        yield Fired(
            f"the first request of {check.id.removeprefix('load-')} took {seconds(first_s)}, longer than the "
            f"start itself ({seconds(start_s)})",
            severity=Severity.SUSPECT,
            figures=BOOT_TIME,
            doubt=PossibleBias(
                slower=1 + first_s / start_s, reason="part of the start may happen in the first request"
            ),
            evidence={"first_s": first_s, "start_s": start_s, "p99_s": max(later)},
        )
        return
