"""Rule: the rate was still rising in a window too short for more to be said."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.drift import rising
from touchstone.judge.rule import GroupRule


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
        trend = rising(group, case)
        if trend is None:
            return
        yield self.finding(
            f"in {trend.rounds} of {len(trend.by_sample)} round(s) the second half of the window was faster than the "
            f"first, by {share(trend.middle)} in the middle one",
            group=group,
            figures=[*SPEED, *CPU],
            doubt=Doubt(faster=None, reason="how far it will still rise, nobody has seen"),
            evidence={"rises": trend.by_sample},
        )
