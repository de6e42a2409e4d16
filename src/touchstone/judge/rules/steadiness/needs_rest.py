"""Rule: a contender keeps its rate only as long as it may rest between its turns."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.neighbours import neighbours
from touchstone.judge.rule import GroupRule
from touchstone.record.sample import Sample

KEPT = 0.75
LEAST_LAPS = 4


class NeedsRest(GroupRule):
    """In slices each contender rests while the others have their turn, and something may be refilled meanwhile.

    A rate limiter's tokens, a quota of CPU time, credits of a disk or of a small virtual machine, a queue that is
    worked off elsewhere: they last for a short turn, and under a load without pauses they do not.
    """

    code = "needs-rest"
    severity = Severity.SUSPECT
    title = "It keeps its rate only with rests"
    threshold = (
        "closed loop in slices: in a turn of 2 s without a rest, at the end of the warm-up of the first two rounds, it "
        "answers less than in the slowest of four slices and more, and less than 75 % of what it does in the middle "
        "one, next to the same ratio of the other contenders and the null server in the middle; in each of these "
        "rounds; not where the warm-up's time was used up"
    )
    threshold_reason = (
        "a busy machine slows a turn of 2 s as it slows eight slices of a quarter second, and the others alike; what "
        "is refilled in rests that are several times as long as a turn makes a difference of that many times"
    )
    next_step = (
        "Look for a limiter of the rate, a quota or credits; measure without rests: --whole-windows, or the phase peak."
    )

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        kept: dict[str, float] = {}
        for sample in group.samples:
            own = _kept(sample)
            warm_up = sample.slices.warm_up if sample.slices else None
            if own is None or (warm_up is not None and warm_up.ended != "flat"):
                continue
            others = [found for other in neighbours(sample, case.run) if (found := _kept(other)) is not None]
            usual = statistics.median(others) if others else 1.0
            if own >= KEPT * min(1.0, usual) or _unbroken_rate(sample) >= min(_rates(sample)):
                return
            kept[sample.id] = own
        if kept:
            middle = statistics.median(kept.values())
            yield self.finding(
                f"loaded for 2 s without a rest, it answered {share(middle)} of what it does in turns",
                group=group,
                figures=[*SPEED],
                doubt=Doubt(slower=None, reason="without rests it is slower, and the longer the load the more so"),
                evidence={"kept": kept},
            )


def _kept(sample: Sample) -> float | None:
    """The rate without a rest over that of the slice in the middle; None where it was not looked at."""
    rates, unbroken = _rates(sample), _unbroken_rate(sample)
    return unbroken / statistics.median(rates) if unbroken and len(rates) >= LEAST_LAPS else None


def _rates(sample: Sample) -> list[float]:
    return [one.rate for one in sample.slices.slices if one.lap is not None and one.rate] if sample.slices else []


def _unbroken_rate(sample: Sample) -> float:
    """Right responses per second without a rest; 0 where it was not looked at, or the contender had died by then."""
    turns = [one for one in sample.slices.slices if one.unbroken] if sample.slices else []
    seconds = sum(one.end - one.begin for one in turns)
    return sum(one.ok for one in turns) / seconds if seconds > 0 else 0.0
