"""Rule: a start contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds, size
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.boot_result import BootRun
from touchstone.record.sample import Sample

TOLERANCE = 1.05


class BootImpossible(SampleRule):
    """The port opens before the first answer, and a part of memory is not larger than the whole."""

    code = "boot-impossible"
    severity = Severity.INVALID
    title = "A start contradicts itself"
    threshold = "a first response before the port was open, or PSS or anonymous memory more than 5 % above RSS"
    threshold_reason = "both hold by definition; memory is read field by field while it changes, so 5 % are allowed"
    next_step = "The record contradicts itself: measure again, and report it with the record if it comes back."
    phases = ("boot",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        for run in sample.boot.runs if sample.boot else []:
            problem = _contradiction(run)
            if problem:
                yield self.finding(problem, sample=sample, evidence=run.model_dump(exclude_none=True))
                return


def _contradiction(run: BootRun) -> str | None:
    if run.first_response_s is not None and run.port_open_s is not None and run.first_response_s < run.port_open_s:
        return (
            f"the first response came after {seconds(run.first_response_s)}, "
            f"the port opened after {seconds(run.port_open_s)}"
        )
    for name, value in (("PSS", run.pss), ("anonymous memory", run.anon)):
        if run.rss and value and value > TOLERANCE * run.rss:
            return f"{name} of {size(value)} is larger than RSS of {size(run.rss)}"
    return None
