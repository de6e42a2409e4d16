"""Rule: the server became slower within the window."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule


class SlowdownInWindow(GroupRule):
    """A server that slows down under load has no steady figure.

    The longer the load, the worse it gets.
    """

    code = "slowdown-in-window"
    severity = Severity.SUSPECT
    title = "The server became slower within the window"
    threshold = "changepoint analysis calls the series slowdown in more than half of the rounds"
    threshold_reason = (
        "a change below the margin does not matter; next to others three windows of a hundred look so by chance: of "
        "nine contenders and loads, one has two such rounds of four in every seventeenth run, and hardly ever three"
    )
    next_step = "Look for growing tables, queues, heaps and logs; measure longer to see where it ends."

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        hits, seen = case.shaped(group, "slowdown")
        if not hits:
            return
        yield self.finding(
            f"it was faster at its beginning in {len(hits)} of {seen} round(s)",
            group=group,
            figures=[*SPEED, *CPU],
            doubt=Doubt(
                faster=max(level for s in hits for level in s.levels),
                slower=None,
                reason="how far it falls, nobody has seen",
            ),
            evidence={"samples": [s.sample for s in hits], "changepoints_s": [s.changepoints_s for s in hits]},
        )
