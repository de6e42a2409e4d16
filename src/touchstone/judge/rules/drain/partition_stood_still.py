"""Rule: a partition stood still while messages waited in it."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

STOOD = 0.25


class PartitionStoodStill(SampleRule):
    """Partitions are worked through next to each other; one that waits for another wastes what it could do.

    A barrier after each poll does that, and so does a consumer that takes its messages from one partition at a time.
    """

    code = "partition-stood-still"
    severity = Severity.NOTE
    title = "A partition stood still while messages waited in it"
    threshold = (
        "gaps of ten times the usual one, and of at least 50 ms, make up more than a quarter of a partition's time "
        "from the drain's first message to its own last"
    )
    threshold_reason = (
        "a fetch, a commit or a collector's pause takes a few percent; a partition that waits for another one "
        "stands still for as long as the other works"
    )
    next_step = (
        "Look for a wait for all partitions after each poll, for polls that are filled from one partition, and for "
        "rebalances."
    )
    phases = ("drain",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        log = sample.drain
        if log is None or not log.stood_still:
            return
        partition, most = max(log.stood_still.items(), key=lambda item: item[1])
        if most > STOOD:
            yield self.finding(
                f"partition {partition} stood still for {share(most)} of its time, with messages waiting in it",
                sample=sample,
                evidence={"stood_still": log.stood_still},
            )
