"""Rule: partitions are unbalanced."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

SHARE = 0.1
LEAST = 10


class PartitionsUnbalanced(SampleRule):
    """The fullest partition decides when a drain ends.

    Its length is chance if keys were hashed.
    """

    code = "partitions-unbalanced"
    severity = Severity.SUSPECT
    title = "Partitions are unbalanced"
    threshold = "the fullest partition holds more than 10 % and more than 10 messages above the mean"
    threshold_reason = (
        "messages are laid into partitions by number, so that they are equal but for a remainder; a tenth "
        "prolongs the drain by a tenth"
    )
    next_step = "Fill the topic with an explicit partition a message."
    phases = ("drain",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        log = sample.drain
        if log is None or len(log.produced) < 2:
            return
        mean = sum(log.produced.values()) / len(log.produced)
        fullest = max(log.produced.values())
        if fullest > mean * (1 + SHARE) and fullest - mean > LEAST:
            yield self.finding(
                f"the fullest of {len(log.produced)} partitions holds {number(fullest)} messages, the mean is "
                f"{number(mean)}",
                sample=sample,
                evidence={"produced": log.produced},
            )
