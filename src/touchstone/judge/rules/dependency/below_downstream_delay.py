"""Rule: faster than the downstream that it waits for."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import stated_delay_s
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

EARLY = 0.95
HITS = ("hits", "requests", "answered", "served")


class BelowDownstreamDelay(SampleRule):
    """A service that calls a downstream cannot answer before it has.

    An answer that comes sooner was not made from one.
    """

    code = "below-downstream-delay"
    severity = Severity.INVALID
    title = "Faster than the downstream that it waits for"
    threshold = (
        "the downstream counted at least one hit for every two answers, its delay is stated, and the median "
        "latency is below 95 % of it"
    )
    threshold_reason = (
        "a timer may fire up to a few percent early by its resolution; the median of many requests does not"
    )
    next_step = "Look for a cache, for calls made ahead, or for a unit that is wrong."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or not result.counts.ok or result.latency.p50 is None:
            return
        for dependency in sample.dependencies:
            delay = stated_delay_s(dependency)
            hits = max(
                (dependency.after[k] - dependency.before.get(k, 0.0) for k in HITS if k in dependency.after),
                default=0.0,
            )
            if delay and hits >= 0.5 * result.counts.ok and result.latency.p50 < EARLY * delay:
                yield self.finding(
                    f"the median latency is {seconds(result.latency.p50)}, and {dependency.name} answers after "
                    f"{seconds(delay)}",
                    sample=sample,
                    figures=SPEED,
                    evidence={"p50_s": result.latency.p50, "delay_s": delay, "hits": hits},
                )
