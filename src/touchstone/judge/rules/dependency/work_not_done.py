"""Rule: the work behind the answers was not done."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class WorkNotDone(SampleRule):
    """A service that answers without working is the fastest of all.

    So the dependency is asked what it saw.
    """

    code = "work-not-done"
    severity = Severity.INVALID
    title = "The work behind the answers was not done"
    threshold = "any proof of the load that does not hold"
    threshold_reason = (
        "proofs count rows, hits or offsets against the successes that were answered, with what is uncertain "
        "allowed for"
    )
    next_step = (
        "Compare what the dependency says with the successes; look for writes that fail silently, caches and "
        "batches never flushed."
    )
    own_failure = True
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        for proof in sample.proofs:
            if not proof.passed:
                yield self.finding(
                    f"{proof.says}: expected {proof.expected}, the dependency says {proof.found}",
                    sample=sample,
                    evidence=proof.model_dump(),
                )
