"""Rule: there is no tare."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule


class TareMissing(RunRule):
    """The tare is what a figure is weighed against.

    Without it nobody knows how near the generator was to its ceiling, nor whether the machine drifted.
    """

    code = "tare-missing"
    severity = Severity.NOTE
    title = "There is no tare"
    threshold = "a load with samples and without a tare"
    threshold_reason = "several rules need it; without it they are silent, which must not pass for approval"
    next_step = "Run with tares (they are on unless they were turned off), or see why they failed."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.tared:
            groups = case.groups_of("load" if load else "peak")
            measured = [g for g in groups if g.load == load and any(s.result for s in g.samples)]
            if measured and not case.tares(load):
                yield self.finding("no tare was measured: ceiling and drift are unknown", load=load)
