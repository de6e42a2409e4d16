"""Rule: the engine does not vouch for its result."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.engine import LoadResult
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
            doubt=_doubt(result),
            evidence={"reasons": result.generator.reasons},
        )


def _doubt(result: LoadResult) -> Doubt | None:
    """Where its threads waited for a CPU, and no more: the service was kept waiting as long, at the most."""
    if not all("waited" in reason for reason in result.generator.reasons) or not result.window.measured_s:
        return None
    waited = [thread.delayed_s for thread in result.generator.threads if thread.delayed_s]
    if not waited:
        return None
    share = min(0.999, max(waited) / result.window.measured_s)
    return Doubt(faster=1 / (1 - share), common=True, reason="the generator had its CPU for the rest of the time")
