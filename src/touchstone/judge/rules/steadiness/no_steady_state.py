"""Rule: no steady state was reached."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule


class NoSteadyState(GroupRule):
    """The level still changed near the end of the window.

    Another length of the window would give another figure.
    """

    code = "no-steady-state"
    severity = Severity.SUSPECT
    title = "No steady state was reached"
    threshold = "changepoint analysis calls the series no steady state in more than half of the rounds"
    threshold_reason = (
        "the last three tenths of the window must be of one level, by more than the margin; rounds may be disturbed "
        "by chance, but not most of them"
    )
    next_step = "Lengthen warm-up and window (`--thorough`); if it never settles, report the range and not a figure."

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        hits, seen = case.shaped(group, "no steady state")
        if not hits:
            return
        yield self.finding(
            f"it changed its level near the end in {len(hits)} of {seen} round(s)",
            group=group,
            figures=[*SPEED, *CPU],
            evidence={"samples": [s.sample for s in hits], "changepoints_s": [s.changepoints_s for s in hits]},
        )
