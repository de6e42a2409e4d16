"""Rule: the machine swapped."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.machine_state import machine_state
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

PAGES = 256


class Swapped(SampleRule):
    """A page that must come from disk takes longer than a whole request."""

    code = "swapped"
    severity = Severity.SUSPECT
    title = "The machine swapped"
    threshold = "more than 256 pages moved to or from swap during the sample"
    threshold_reason = "256 pages are 1 MiB; below that the kernel may tidy up pages of programs that sleep"
    next_step = "Free memory or lower the number of connections; turn swap off for measurements."
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        state = machine_state(sample)
        pages = (state.swap_in_pages or 0) + (state.swap_out_pages or 0)
        if pages > PAGES:
            yield self.finding(
                f"{number(pages)} pages were swapped",
                sample=sample,
                evidence={"swap_in_pages": state.swap_in_pages, "swap_out_pages": state.swap_out_pages},
            )
