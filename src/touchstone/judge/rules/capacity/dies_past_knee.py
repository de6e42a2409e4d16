"""Rule: the server ended at a rate past its capacity."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class DiesPastKnee(SampleRule):
    """A service that refuses what is too much comes back when the rush is over; one that ends does not.

    It is part of the answer and no fault of the measurement: the search went on below, with a new process.
    """

    code = "dies-past-knee"
    severity = Severity.NOTE
    title = "The server ended at a rate past its capacity"
    threshold = "an exit before the stop signal during a trial, or during the closed loop of the warm-up"
    threshold_reason = "a process that is gone answers nobody, at no rate"
    next_step = "Read its log; bound its queue or its connections, so that it refuses what it cannot answer."
    phases = ("capacity",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one search."""
        found = sample.capacity
        if found is not None and found.death is not None:
            where = f"at {number(found.dies_at)}/s" if found.dies_at else "when all connections ask at once"
            yield self.finding(
                f"it dies {where}: the server {found.death}",
                sample=sample,
                figures=[],
                evidence={"dies_at": found.dies_at, "death": found.death, "capacity": sample.figures.get("capacity")},
            )
