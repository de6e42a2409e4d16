"""Rule: contenders answer with bodies of different length."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.apart import apart
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule

SHARE = 0.1
BYTES = 16


class UnequalBodies(RunRule):
    """Where one sends twice the bytes of another, they do not do the same work.

    Or one of them sends an error page.
    """

    code = "unequal-bodies"
    severity = Severity.SUSPECT
    title = "Contenders answer with bodies of different length"
    threshold = (
        "mean bytes of a body a response, by contender: the largest more than a tenth and more than 16 bytes "
        "above the smallest; where most contenders agree, only those who differ are suspect"
    )
    threshold_reason = (
        "bodies of one contract differ by the digits of a counter or an identifier; a tenth of a short body is a "
        "digit or two, so 16 bytes are allowed on top"
    )
    next_step = (
        "Compare the responses of the two contenders named (`curl -i`); fix the contract so that it fixes the body."
    )

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.loads:
            means: dict[str, float] = {}
            for group in case.groups_of("load"):
                if group.load == load:
                    totals = [s.result for s in group.samples if s.result and s.result.counts.completed]
                    answered = sum(r.counts.completed for r in totals)
                    if answered:
                        means[group.contender] = sum(r.bytes.body for r in totals) / answered
            for pair in apart(means, lambda small, large: large > small * (1 + SHARE) and large - small > BYTES):
                yield self.finding(
                    f"a response's body is {number(means[pair.high])} bytes long from {pair.high} and "
                    f"{number(means[pair.low])} from {pair.low}",
                    load=load,
                    contender=pair.odd,
                    figures=["throughput", *LATENCY, *CPU],
                    evidence={"body_bytes": means},
                )
