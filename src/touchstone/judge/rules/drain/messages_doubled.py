"""Rule: messages were processed twice."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class MessagesDoubled(SampleRule):
    """Work done twice is counted twice, and a rate over messages then says too much or too little."""

    code = "messages-doubled"
    severity = Severity.INVALID
    title = "Messages were processed twice"
    threshold = "any message processed more than once in a drain without a failure"
    threshold_reason = "the scenario promises each message once and in order, and the log names every one of them"
    next_step = "Look for rebalances during the drain, and for commits that come too late."
    own_failure = True
    phases = ("drain",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        log = sample.drain
        if log is not None and log.doubled:
            yield self.finding(
                f"{number(log.doubled)} of {number(sum(log.produced.values()))} messages: messages were processed "
                f"twice",
                sample=sample,
                evidence=log.model_dump(),
            )
