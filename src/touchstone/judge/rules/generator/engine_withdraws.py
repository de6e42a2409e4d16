"""Rule: the engine does not vouch for its result."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import dependency_use
from touchstone.judge.reading.traffic import generator_throttled
from touchstone.judge.rule import SampleRule
from touchstone.record.engine import LoadResult
from touchstone.record.generator import THROTTLED
from touchstone.record.sample import Sample

_SEEN = 0.1
"""Of a CPU: what a dependency used of the engine's before it is named as what the engine waited for."""
_APART = (
    "Compare contenders, which all have it alike, and do not quote the figures alone. For those give the engine a CPU "
    "that no dependency uses: a machine of three CPUs or more, or a dependency elsewhere (`--postgres URL`, "
    "`--kafka HOST:PORT`)."
)


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
        explained += generator_throttled(result) > THROTTLED
        explained += (result.lateness.p99 or 0.0) > 1e-3
        explained += result.rate.offered is not None and result.rate.achieved < 0.99 * result.rate.offered
        explained += result.connections.established < result.connections.asked
        explained += result.counts.completed == 0
        explained += result.interrupted
        if explained and len(result.generator.reasons) <= explained:
            return
        doubt, beside = _doubt(result), _beside(sample)
        why = "; ".join(result.generator.reasons) or "no reason given"
        told = doubt is not None and beside
        yield self.finding(
            f"the engine does not vouch for its result: {why}{f'; {beside}' if told else ''}",
            sample=sample,
            figures=SPEED,
            doubt=doubt,
            evidence={"reasons": result.generator.reasons},
            next_step=_APART if told else None,
        )


def _beside(sample: Sample) -> str | None:
    """Which dependency had the engine's CPUs meanwhile, in words; None if none may use them, or none was seen to."""
    placement, use = sample.placement, dependency_use(sample)
    if not set(placement.engine_cpus) & set(placement.dependency_cpus) or use.elapsed_s <= 0:
        return None
    name, used = max(use.cpu_s.items(), key=lambda entry: entry[1], default=("", 0.0))
    share = used / use.elapsed_s
    return f"the dependency {name} may use the same CPU, and used {share:.0%} of one" if share >= _SEEN else None


def _doubt(result: LoadResult) -> Doubt | None:
    """Where its threads waited for a CPU, and no more: the service was kept waiting as long, at the most."""
    if not all("waited" in reason for reason in result.generator.reasons) or not result.window.measured_s:
        return None
    waited = [thread.delayed_s for thread in result.generator.threads if thread.delayed_s]
    if not waited:
        return None
    share = min(0.999, max(waited) / result.window.measured_s)
    return Doubt(faster=1 / (1 - share), common=True, reason="the generator had its CPU for the rest of the time")
