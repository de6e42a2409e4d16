"""Rule: the rate against which a memory floor was held did not keep still."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class FloorUnsteady(SampleRule):
    """A floor is the smallest limit that keeps most of the rate that there is without one.

    Where that rate itself moves by more than the limit may cost, noise decides what passes.
    """

    code = "floor-unsteady"
    severity = Severity.SUSPECT
    title = "The rate without a limit did not keep still"
    threshold = "the rates without a limit, before the search and after it, differ by more than the limit may cost"
    threshold_reason = "with nine tenths wanted, a tenth of drift passes or fails a limit as much as the limit does"
    next_step = "End what else runs (`touchstone doctor --noise` shows it), and search again with a longer profile."
    phases = ("floor",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        floor = sample.floor
        if floor is None:
            return
        rates = [rate for rate in floor.unlimited_rates if rate]
        allowed = 1.0 - floor.share
        if len(rates) < 2 or min(rates) >= max(rates) * (1.0 - allowed):
            return
        yield self.finding(
            f"without a limit it answered {number(min(rates))} to {number(max(rates))}/s, "
            f"{share(1 - min(rates) / max(rates))} apart",
            sample=sample,
            figures=["floor_passes"],
            evidence={"unlimited_rates": rates, "share": floor.share},
        )
