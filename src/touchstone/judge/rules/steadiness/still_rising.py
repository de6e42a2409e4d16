"""Rule: the rate was still rising in a window too short for more to be said."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.traffic import loop
from touchstone.judge.rule import GroupRule
from touchstone.record.sample import Sample

RISE = 0.10
MIDDLE = 0.15
LEAST_POINTS = 8
ROUNDS = 3


class StillRising(GroupRule):
    """A quick run's window is too short for a changepoint, and long enough to see a runtime that still compiles.

    Its rate, latency and CPU time are those of a young process, many times off what it reaches later.
    """

    code = "still-rising"
    severity = Severity.SUSPECT
    title = "The rate was still rising"
    threshold = (
        "closed loop, in windows too short for changepoints: the second half's rate above the first's by more than "
        "10 % in two thirds of three or more rounds, and by more than 15 % in the middle one"
    )
    threshold_reason = (
        "on a busy machine halves of one second differ by 10 to 20 %, upwards as often as downwards; three times "
        "upwards is hardly chance"
    )
    next_step = "Run with the normal or the thorough profile, or read the figures as those of a young process."

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        short = {steady.sample for steady in case.steady_of(group) if steady.shape == "too short"}
        rises = {s.id: rise for s in group.samples if s.id in short and (rise := _rise(s)) is not None}
        hits = [sample for sample, rise in rises.items() if rise > RISE]
        if len(rises) < ROUNDS or len(hits) < len(rises) * 2 / 3 or median(rises.values()) <= MIDDLE:
            return
        yield self.finding(
            f"in {len(hits)} of {len(rises)} round(s) the second half of the window was faster than the first, by "
            f"{share(median(rises.values()))} in the middle one",
            group=group,
            figures=[*SPEED, *CPU],
            evidence={"rises": rises},
        )


def _rise(sample: Sample) -> float | None:
    """By how much the second half of the window was faster; None where that says nothing."""
    if sample.result is None or loop(sample) != "closed":
        return None
    window = [point.ok for point in sample.result.series if point.phase == "load"]
    half = len(window) // 2
    if len(window) < LEAST_POINTS or not sum(window):
        return None
    return sum(window[half : 2 * half]) / max(1, sum(window[:half])) - 1
