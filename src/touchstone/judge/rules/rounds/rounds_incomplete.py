"""Rule: rounds are missing."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import PEAK
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule


class RoundsIncomplete(GroupRule):
    """A round in which one contender was not measured has no ratio.

    What is missing may not be missing by chance.
    """

    code = "rounds-incomplete"
    severity = Severity.NOTE
    title = "Rounds are missing"
    threshold = "fewer rounds of a load than the plan has"
    threshold_reason = (
        "comparisons use the rounds that both have, so the figures stay right; the reader should know that there "
        "were fewer"
    )
    next_step = "See why they are missing: an interruption, or a failure in the findings."

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        done = {s.round for s in group.samples if s.figures}
        missing = sorted(set(range(1, case.run.plan.rounds + 1)) - {r for r in done if r is not None})
        if done and None not in done and missing:
            yield self.finding(
                f"{len(missing)} of {case.run.plan.rounds} planned rounds are missing",
                group=group,
                figures=None if group.load else PEAK,
                evidence={"rounds": missing},
            )
