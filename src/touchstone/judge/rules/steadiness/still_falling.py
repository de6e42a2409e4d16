"""Rule: the rate was falling in a window too short for more to be said."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.drift import drifts
from touchstone.judge.rule import GroupRule

FALL = 0.10
MIDDLE = 0.15
ROUNDS = 3


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
        falls = {sample: -drift for sample, drift in drifts(group, case).items()}
        hits = [sample for sample, fall in falls.items() if fall > FALL]
        if len(falls) < ROUNDS or len(hits) < len(falls) * 2 / 3 or median(falls.values()) <= MIDDLE:
            return
        yield self.finding(
            f"in {len(hits)} of {len(falls)} round(s) the second half of the window was slower than the first, by "
            f"{share(median(falls.values()))} in the middle one",
            group=group,
            figures=[*SPEED, *CPU],
            doubt=Doubt(slower=None, reason="it goes on with every further request"),
            evidence={"falls": falls},
        )
