"""Rule: a start called cold was not cold."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class CacheNotCold(SampleRule):
    """With the program in the page cache a start reads nothing from disk.

    It is then a warm start under another name.
    """

    code = "cache-not-cold"
    severity = Severity.INVALID
    title = "A start called cold was not cold"
    threshold = "a figure for a cold start without a start whose page cache was dropped"
    threshold_reason = "whether the cache was dropped is known, so there is nothing to weigh"
    next_step = "Give the lab the right to drop page caches, or leave the figure out."
    phases = ("boot",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        if "boot_first_response_cold" not in sample.figures or sample.boot is None:
            return
        if not any(r.cold_cache for r in sample.boot.runs):
            yield self.finding(
                "the figure for a cold start comes from starts with a warm page cache",
                sample=sample,
                figures=["boot_first_response_cold"],
                evidence={"starts": len(sample.boot.runs)},
            )
