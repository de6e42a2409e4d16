"""Rule: the first response came before the service was ready."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class ReadyTooEarly(SampleRule):
    """An article timed services that log "ready" before they bind their port.

    One that answers its ready request from a stub, and the rest with 503, is the same trick.
    """

    code = "ready-too-early"
    severity = Severity.INVALID
    title = "The first response came before the service was ready"
    threshold = (
        "a request of a load, or a check of the contract that held otherwise, that is not answered correctly when it "
        "follows the first correct response to the ready request"
    )
    threshold_reason = (
        "the figure is the time to the first valid response, and a service that cannot do the work yet has not started"
    )
    next_step = "Let `ready` be a request that does the work, or let the service answer only when it can."
    own_failure = True
    phases = ("boot",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        never = {
            check.id
            for verified in case.run.samples
            if verified.phase == "verify" and verified.contender == sample.contender
            for check in verified.checks
            if not check.passed
        }
        broken = [check for check in sample.checks if not check.passed and check.id not in never]
        if broken:
            first = broken[0].broken[0] if broken[0].broken else None
            how = f": {first.request}: expected {first.expected}, received {first.received}" if first else ""
            yield self.finding(
                f"right behind its first answer it broke {', '.join(repr(c.id) for c in broken)}{how}",
                sample=sample,
                evidence={"checks": [c.model_dump() for c in broken[:3]]},
            )
