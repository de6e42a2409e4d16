"""Rule: the server waited for pages from disk."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

RATE = 10
LEAST = 50


class MajorFaults(SampleRule):
    """A major fault stops a thread until a page has been read.

    It means that memory is short or the program was not yet loaded.
    """

    code = "major-faults"
    severity = Severity.SUSPECT
    title = "The server waited for pages from disk"
    threshold = "more than 10 major faults a second of the window, and more than 50"
    threshold_reason = (
        "a server that was warmed up has its pages; 10 a second at about 1 ms each are a percent of a thread's time"
    )
    next_step = "Raise the memory limit, free memory, or lengthen the warm-up."
    # What is read from the disk at the start is part of it.
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        faults = result.watch.window.major_faults if result and result.watch else None
        if result is None or not faults or not result.window.measured_s:
            return
        if faults > LEAST and faults / result.window.measured_s > RATE:
            yield self.finding(
                f"the server had {number(faults)} major faults within {seconds(result.window.measured_s)}",
                sample=sample,
                evidence={"major_faults": faults, "a_second": faults / result.window.measured_s},
            )
