"""Rule: the measurement was broken off."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class MeasurementInterrupted(SampleRule):
    """An interrupted load covers another window than the rest."""

    code = "measurement-interrupted"
    severity = Severity.INVALID
    title = "The measurement was broken off"
    threshold = "the engine says that it was interrupted"
    threshold_reason = "figures of windows of different lengths and phases do not compare"
    next_step = "Run it again; whole rounds measured before stay valid."
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        if sample.result is not None and sample.result.interrupted:
            measured = sample.result.window.measured_s
            yield self.finding(
                f"the load was interrupted after {seconds(measured)} of its window",
                sample=sample,
                evidence={"measured_s": measured},
            )
