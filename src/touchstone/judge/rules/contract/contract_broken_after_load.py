"""Rule: the contract held before the load and not after it."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class ContractBrokenAfterLoad(SampleRule):
    """A service that answers wrongly once it has been loaded was broken by the load.

    What it answered in between nobody knows.
    """

    code = "contract-broken-after-load"
    severity = Severity.INVALID
    title = "The contract held before the load and not after it"
    threshold = "any check that fails when it is repeated after the load"
    threshold_reason = "the same checks passed before the load, so that the load is what changed"
    next_step = (
        "Look for what workers do not share, such as a note that one process keeps and the next does not know, and for "
        "resources that ran out: connections, sessions, descriptors, threads, memory."
    )
    own_failure = True
    phases = ("load", "peak", "hold", "drain")

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        broken = [c for c in sample.checks if not c.passed]
        if broken:
            first = broken[0].broken[0] if broken[0].broken else None
            how = f": {first.request}: expected {first.expected}, received {first.received}" if first else ""
            yield self.finding(
                f"after the load it broke {', '.join(repr(c.id) for c in broken)}{how}",
                sample=sample,
                evidence={"checks": [c.model_dump() for c in broken]},
            )
