"""Rule: a process that is not the contender's answered."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class ForeignListener(SampleRule):
    """A server left over on the port answers in place of the one that was started, and in no time."""

    code = "foreign-listener"
    severity = Severity.INVALID
    title = "Answered by a process that is not the contender's"
    threshold = "the listening socket belongs to no process of the contender's tree"
    threshold_reason = "the kernel knows the owner of a socket; there is nothing to weigh"
    next_step = "End the process that holds the port (`touchstone doctor` names it) and measure again."
    phases = None
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at the port's owner, and at each boot's."""
        if sample.foreign_listener:
            yield self.finding(
                f"the port was held by {sample.foreign_listener}",
                sample=sample,
                evidence={"listener": sample.foreign_listener},
            )
            return
        runs = sample.boot.runs if sample.boot else []
        foreign = [r for r in runs if r.answered_by_ours is False or r.failure == "foreign_listener"]
        if foreign:
            yield self.finding(
                f"{len(foreign)} of {len(runs)} boots were answered by a process that was not started for them",
                sample=sample,
                evidence={"runs": [r.model_dump(exclude_none=True) for r in foreign[:3]]},
            )
