"""Rule: the engine does not vouch for its result."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.case import Case
from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class EngineWithdraws(SampleRule):
    """The engine looks at itself while it measures.

    What it says about itself is not overruled here.
    """

    code = "engine-withdraws"
    severity = Severity.SUSPECT
    title = "The engine does not vouch for its result"
    threshold = (
        "the engine says that its result does not stand, for a reason beyond those that rules of their own weigh "
        "(its CPU, late sends, the rate, the connections)"
    )
    threshold_reason = (
        "its reasons that are numbers in the record are judged by those numbers; any other is taken at its word"
    )
    next_step = "Do what the reason says; usually the engine needs CPUs that nothing else uses."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or result.generator.stands:
            return
        explained = sum(t.busy > 0.95 for t in result.generator.threads)
        explained += (result.lateness.p99 or 0.0) > 1e-3
        explained += result.rate.offered is not None and result.rate.achieved < 0.99 * result.rate.offered
        explained += result.connections.established < result.connections.asked
        explained += result.counts.completed == 0
        explained += result.interrupted
        if explained and len(result.generator.reasons) <= explained:
            return
        yield self.finding(
            f"the engine does not vouch for its result: {'; '.join(result.generator.reasons) or 'no reason given'}",
            sample=sample,
            figures=SPEED,
            evidence={"reasons": result.generator.reasons},
        )
