"""Rule: the contender does not keep the contract."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule


class ContractBroken(GroupRule):
    """Two services are compared on the same work, or not at all.

    A check that fails makes every figure of the contender one of another service.
    """

    code = "contract-broken"
    severity = Severity.INVALID
    title = "The contender does not keep the contract"
    threshold = "any check of the verify phase that fails, or a request of a load that is not answered as it must be"
    threshold_reason = "the contract is the scenario's; each check says what a correct response is"
    next_step = "See which request broke it and how, and what the service wrote; fix it and measure again."
    phases = ("verify",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        broken = [(s, c) for s in group.samples for c in s.checks if not c.passed]
        for sample, check in broken:
            first = check.broken[0] if check.broken else None
            how = f": {first.request}: expected {first.expected}, received {first.received}" if first else ""
            log = sample.files.get("log") if sample.log_bytes != 0 else None
            step = f"See what the service wrote to its log ({log} in the run's folder), fix it and measure again."
            yield self.finding(
                f"broke {check.id!r} ({check.says}){how}",
                contender=group.contender,
                evidence={"check": check.model_dump(), "sample": sample.id},
                next_step=step if log else None,
            )
