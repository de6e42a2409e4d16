"""Rules on the peak of a start under load."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.peak import PEAK_FIGURES
from touchstone.judge.rule import Fired, on_group


@on_group(
    "peak-not-kept",
    Severity.SUSPECT,
    title="The contender had been faster before it settled",
    threshold="in at least half of the rounds, changepoint analysis finds that the rate fell after the start",
    threshold_reason="chance may disturb one round, but not half of them. Changes below the margin do not count",
    next_step=(
        "Look at the rate over time, and for things that grow: a table, a heap, a queue. Do not call the contender's "
        "rate a peak."
    ),
    phases=("peak",),
)
def peak_not_kept(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """The contender was faster before its rate settled.

    The settled rate is then not its peak.

    Possible causes are a cache that filled up, a garbage collector that began to work, or a disturbance of the machine.
    """
    peaks = [case.peaks[s.id] for s in group.samples if s.id in case.peaks]
    slower = [peak for peak in peaks if peak.shape == "slowdown"]
    if not slower or len(slower) < len(peaks) / 2:
        return
    yield Fired(
        f"the contender was faster earlier than at the level on which it settled, in {len(slower)} of {len(peaks)} "
        "round(s)",
        figures=list(PEAK_FIGURES),
        evidence={"samples": [p.sample for p in slower], "changepoints_s": [p.changepoints_s for p in slower]},
    )


_PEAK_NOT_REACHED_SHARE = 0.5


@on_group(
    "peak-not-reached",
    Severity.SUSPECT,
    title="The peak was not reached in every round",
    threshold=(
        "in any round, the rate still changed within the last three tenths of the time, or the time was too short to "
        "decide: suspect; in half of the rounds or more: invalid"
    ),
    threshold_reason=(
        "a round without a peak is not in the median, so the median time to peak is too short. If half of the rounds "
        "are missing, the true median may be longer than the measurement"
    ),
    next_step=(
        "Use a longer preset (`--thorough`). Or compare the total number of responses, which does not need a peak."
    ),
    phases=("peak",),
)
def peak_not_reached(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A runtime that still gets faster when the measurement ends has not reached its peak.

    The rounds that did reach it are a biased selection, because the slow rounds are missing.
    """
    peaks = [case.peaks[s.id] for s in group.samples if s.id in case.peaks]
    missed = [peak for peak in peaks if peak.time_s is None]
    if not missed:
        return
    watched = max((s.peak.within_s for s in group.samples if s.peak), default=0.0)
    shapes = ", ".join(sorted({peak.shape for peak in missed}))
    yield Fired(
        f"no peak was reached within {number(watched)} s of the start in {len(missed)} of {len(peaks)} round(s): "
        f"{shapes}",
        severity=Severity.INVALID if len(missed) >= _PEAK_NOT_REACHED_SHARE * len(peaks) else Severity.SUSPECT,
        figures=list(PEAK_FIGURES),
        evidence={"samples": [p.sample for p in missed], "changepoints_s": [p.changepoints_s for p in missed]},
    )
