"""Rule: rounds are not fresh processes."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule


class RoundsShareProcess(RunRule):
    """Part of what a service costs is drawn when it starts: memory layout, hash seeds, what is compiled when.

    Rounds draw it anew where the lab starts the service. Where somebody else has, all rounds have the same draw.
    """

    code = "rounds-share-process"
    severity = Severity.NOTE
    title = "Rounds are not fresh processes"
    threshold = "a contender that the lab did not start, in two rounds or more"
    threshold_reason = (
        "nothing of it can be seen in the figures: their scatter is that of one process, and how far another start "
        "would lie from it nobody has looked"
    )
    next_step = (
        "Read the intervals as those of these very processes; restart the services and run again before you say more. "
        "As a stack, the lab starts it afresh in each round."
    )

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at each contender that runs already."""
        for contender in case.run.plan.contenders:
            rounds = {s.round for s in case.run.samples if s.contender == contender.name and s.round and s.figures}
            if contender.outside and len(rounds) > 1:
                yield self.finding(
                    f"{contender.name} was the same process in all {len(rounds)} rounds: the intervals tell how this "
                    "process scatters, and not how another start of it would",
                    contender=contender.name,
                    evidence={"url": contender.outside, "rounds": len(rounds)},
                )
