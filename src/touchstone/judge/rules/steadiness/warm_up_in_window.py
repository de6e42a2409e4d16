"""Rule: warm-up reached into the window."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule


class WarmUpInWindow(GroupRule):
    """A runtime that still compiles is slower than it will be.

    The mean over warm-up and steady state is a figure of neither.
    """

    code = "warm-up-in-window"
    severity = Severity.SUSPECT
    title = "Warm-up reached into the window"
    threshold = "changepoint analysis calls the series warm-up in more than half of the rounds"
    threshold_reason = (
        "a change below the margin does not matter; next to others three windows of a hundred look so by chance: of "
        "nine contenders and loads, one has two such rounds of four in every seventeenth run, and hardly ever three"
    )
    next_step = "Lengthen the warm-up (`warmup_s` of the load), or read the figure as that of a young process."

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        hits, seen = case.shaped(group, "warm-up")
        if not hits:
            return
        told = f"it was slower at its beginning in {len(hits)} of {seen} round(s), in this one by "
        for hit in hits:
            yield self.finding(
                told + share(1 - min(hit.levels)),
                sample=next(sample for sample in group.samples if sample.id == hit.sample),
                figures=[*SPEED, *CPU],
                doubt=Doubt(
                    faster=1 / min(hit.levels),
                    slower=max(hit.levels),
                    reason="its last level is that of a service that is warm",
                ),
                evidence={"changepoints_s": hit.changepoints_s, "levels": hit.levels},
            )
