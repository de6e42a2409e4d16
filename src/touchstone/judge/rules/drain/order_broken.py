"""Rule: order within a partition was broken."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class OrderBroken(SampleRule):
    """Order is what a partition is for.

    Without it draining is easily parallel, and faster.
    """

    code = "order-broken"
    severity = Severity.INVALID
    title = "Order within a partition was broken"
    threshold = "any message processed after a later one of its partition"
    threshold_reason = "the scenario promises each message once and in order, and the log names every one of them"
    next_step = "Process each partition by one worker, in the order of offsets."
    own_failure = True
    phases = ("drain",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        log = sample.drain
        if log is not None and log.out_of_order:
            yield self.finding(
                f"{number(log.out_of_order)} of {number(sum(log.produced.values()))} messages: order within a "
                f"partition was broken",
                sample=sample,
                evidence=log.model_dump(),
            )
