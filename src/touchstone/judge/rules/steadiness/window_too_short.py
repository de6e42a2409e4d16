"""Rule: the window is too short to tell a steady state."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule


class WindowTooShort(GroupRule):
    """In two seconds nobody can see whether a runtime has finished compiling."""

    code = "window-too-short"
    severity = Severity.NOTE
    title = "The window is too short to tell a steady state"
    threshold = "fewer than 8 points or 5 s in the windows of all rounds"
    threshold_reason = (
        "a change needs three points on either side to be told from noise, and a collector's pause must not be "
        "taken for one"
    )
    next_step = "Run with the normal or the thorough profile."

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        seen = case.steady_of(group)
        # A quick run says by its name that it is short; its reader has been told.
        if seen and all(s.shape == "too short" for s in seen) and case.run.plan.profile != "quick":
            yield self.finding(f"the windows of all {len(seen)} round(s) are too short", group=group)
