"""Rule: responses came before their work was done."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import LEAST_ASKED, as_a_rule
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class AnsweredBeforeWork(SampleRule):
    """A service that answers first and works later looks fast, and loses what it has answered when it dies.

    The count of all work comes out right in the end, so that nothing else shows it.
    """

    code = "answered-before-work"
    severity = Severity.SUSPECT
    title = "Responses came before the work was done"
    threshold = (
        f"of at least {LEAST_ASKED} requests that were sent one at a time after the load and had a dependency do "
        "something, half or more had it do so, or do more, after their response"
    )
    threshold_reason = (
        "nothing else is under way then, so that work after a response is that request's; what a dependency does by "
        "itself, such as a checkpoint, does not come with every second request"
    )
    next_step = (
        "Look for work in threads, queues or hooks that run after the response. If the contract allows it, let all "
        "contenders do it alike."
    )

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        for dependency in sample.dependencies:
            if seen := as_a_rule(dependency, "late"):
                yield self.finding(
                    f"{dependency.name} was given work after {seen.late} of {seen.asked} responses",
                    sample=sample,
                    figures=SPEED,
                    evidence=seen.model_dump(),
                )
