"""Rule: a measurement could not be carried out."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class PhaseFailed(SampleRule):
    """A measurement that broke off has no figures, and that is a result too."""

    code = "phase-failed"
    severity = Severity.INVALID
    title = "A measurement could not be carried out"
    threshold = "a failure recorded with the sample"
    threshold_reason = "there is nothing to weigh: the lab says itself that it could not go on"
    next_step = "Read what failed and the last lines of its log."
    phases = None
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        failure = sample.failure
        if failure is not None:
            where = f"{failure.where}: " if failure.where else ""
            step = f"{failure.fix[:1].upper()}{failure.fix[1:]}." if failure.fix else None
            yield self.finding(f"{where}{failure.what}", sample=sample, evidence=failure.model_dump(), next_step=step)
