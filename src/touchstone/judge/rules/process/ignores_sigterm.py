"""Rule: the server had to be killed."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class IgnoresSigterm(SampleRule):
    """A service that does not end when it is asked to loses what it was doing whenever it is deployed."""

    code = "ignores-sigterm"
    severity = Severity.NOTE
    title = "The server had to be killed"
    threshold = "any start of the boot phase that ended by SIGKILL"
    threshold_reason = "the start contract says that a service ends on SIGTERM, and ten seconds are given for it"
    next_step = "Handle SIGTERM: stop accepting, finish what is under way, exit."
    phases = ("boot",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        runs = sample.boot.runs if sample.boot else []
        killed = sum(r.stopped == "sigkill" for r in runs)
        if killed:
            yield self.finding(f"{killed} of {len(runs)} starts did not end on SIGTERM and were killed", sample=sample)
