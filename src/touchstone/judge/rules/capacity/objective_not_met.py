"""Rule: the objective was met at no rate."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class ObjectiveNotMet(SampleRule):
    """A service that misses its objective while it is nearly idle has no capacity, however fast it is at full tilt."""

    code = "objective-not-met"
    severity = Severity.NOTE
    title = "The objective was met at no rate"
    threshold = "the knee lies, to nine parts in ten, below the lowest rate whose trials carry the objective"
    threshold_reason = (
        "below it a trial of ten seconds has too few requests for the objective's percentiles, so nothing can be said"
    )
    next_step = "Look at the latency at the lowest rate: the objective may be below what the service takes when idle."
    phases = ("capacity",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one search."""
        found = sample.capacity
        if found is None or found.ended != "nothing holds" or not found.trials:
            return
        least = min(found.trials, key=lambda trial: trial.rate)
        yield self.finding(
            f"{found.objective} was not met at {number(least.rate)}/s either, the lowest rate tried: {least.why}",
            sample=sample,
            figures=["capacity"],
            evidence={"lowest": found.lowest, "rate": least.rate, "latency": least.latency, "why": least.why},
        )
