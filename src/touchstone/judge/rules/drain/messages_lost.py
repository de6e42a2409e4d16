"""Rule: messages were lost."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class MessagesLost(SampleRule):
    """A consumer that skips messages is done sooner."""

    code = "messages-lost"
    severity = Severity.INVALID
    title = "Messages were lost"
    threshold = "any message of the topic that was never processed"
    threshold_reason = "the scenario promises each message once and in order, and the log names every one of them"
    next_step = "Commit offsets after the work and not before; look for errors that are swallowed."
    own_failure = True
    phases = ("drain",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        log = sample.drain
        if log is not None and log.lost:
            yield self.finding(
                f"{number(log.lost)} of {number(sum(log.produced.values()))} messages: messages were lost",
                sample=sample,
                evidence=log.model_dump(),
            )
