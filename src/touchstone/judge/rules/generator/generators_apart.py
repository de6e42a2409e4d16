"""Rule: several generators did not begin together."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

APART_S = 0.005


class GeneratorsApart(SampleRule):
    """While one generator loads and another does not yet, the server has less to do than the load says."""

    code = "generators-apart"
    severity = Severity.SUSPECT
    title = "Generators did not begin together"
    threshold = (
        "the beginnings of two generators may lie more than 5 ms apart, in slices on the mean, the doubt about their "
        "clocks included"
    )
    threshold_reason = (
        "round trips within a rack take well below 1 ms, and half of the fastest one bounds the doubt about a clock: "
        "5 ms is a generator that was held up, or a network that clocks cannot be compared over"
    )
    next_step = (
        "See what holds the named generator up (`touchstone doctor --cluster`), or put the nodes closer together."
    )
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at the generators' beginnings after the common start."""
        parts = sample.result.generators if sample.result else []
        if len(parts) < 2:
            return
        last = max(parts, key=lambda part: part.began_s + part.clock_residual_s)
        others = [part for part in parts if part is not last]
        first = min(others, key=lambda part: part.began_s - part.clock_residual_s)
        apart = last.began_s + last.clock_residual_s - (first.began_s - first.clock_residual_s)
        if apart > APART_S:
            yield self.finding(
                f"generator {last.name} may have begun {seconds(apart)} after {first.name}",
                sample=sample,
                figures=SPEED,
                evidence={
                    "apart_s": apart,
                    "began_s": {part.name: part.began_s for part in parts},
                    "clock_residual_s": {part.name: part.clock_residual_s for part in parts},
                },
            )
