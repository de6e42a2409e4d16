"""Rule: the contract was not checked."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule


class ContractNotChecked(GroupRule):
    """Nobody knows whether a service that was only timed does the work."""

    code = "contract-not-checked"
    severity = Severity.SUSPECT
    title = "The contract was not checked"
    threshold = (
        "load figures of a contender without a verify sample of it: suspect; a note if the plan left the verify "
        "phase out"
    )
    threshold_reason = "a check takes seconds; leaving it out on purpose is the reader's to weigh, losing it is not"
    next_step = "Run with the verify phase."

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        verified = {s.contender for s in case.run.samples if s.phase == "verify" and (s.checks or s.failure)}
        if group.contender in verified:
            return
        planned = "verify" in case.run.plan.phases
        yield self.finding(
            "the contract was not checked" + ("" if planned else ": the plan leaves the verify phase out"),
            severity=Severity.SUSPECT if planned else Severity.NOTE,
            group=group,
            evidence={"phases": case.run.plan.phases},
        )
