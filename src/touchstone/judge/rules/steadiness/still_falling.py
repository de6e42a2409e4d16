"""Rule: the rate was falling in a window too short for more to be said."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.drift import falling
from touchstone.judge.rule import GroupRule


class StillFalling(GroupRule):
    """A quick run's window is too short for a changepoint, and long enough to see that each further second is slower.

    What grows with the requests (a table, a queue, a lock that more and more wait for) goes on beyond the window.
    """

    code = "still-falling"
    severity = Severity.SUSPECT
    title = "It got slower while it was measured"
    threshold = (
        "closed loop, in windows too short for changepoints: the second half's rate below the first's by more than "
        "10 % in two thirds of three or more rounds, and by more than 15 % in the middle one"
    )
    threshold_reason = (
        "on a busy machine halves of one second differ by 10 to 20 %, upwards as often as downwards; three times "
        "downwards is hardly chance"
    )
    next_step = "Measure longer (`--thorough`) to see where it ends, and look at what grows with the requests."

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        trend = falling(group, case)
        if trend is None:
            return
        yield self.finding(
            f"in {trend.rounds} of {len(trend.by_sample)} round(s) the second half of the window was slower than the "
            f"first, by {share(trend.middle)} in the middle one",
            group=group,
            figures=[*SPEED, *CPU],
            doubt=Doubt(slower=None, reason="it goes on with every further request"),
            evidence={"falls": trend.by_sample},
        )
