"""Rule: a dependency did not answer any more when the measurement was over."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class DependencyDied(SampleRule):
    """A service whose database or broker has gone does other work, even where its answers stay right."""

    code = "dependency-died"
    severity = Severity.INVALID
    title = "A dependency was gone when the measurement was over"
    threshold = "a dependency gave its counters before the measurement, and none after it"
    threshold_reason = "the lab asks it on the same machine right after the last answer: one that lives does answer"
    next_step = "Read the end of the dependency's log, which is kept with the results, and measure again."
    phases = ("load", "drain")

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        for dependency in sample.dependencies:
            if dependency.before and not dependency.after:
                yield self.finding(
                    f"{dependency.name} ({dependency.kind}) answered before the measurement, and not after it",
                    sample=sample,
                    evidence={"before": dependency.before},
                )
