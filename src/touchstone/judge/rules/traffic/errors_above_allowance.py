"""Rule: more requests failed than the scenario allows."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import allowance, error_share, first_errors
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class ErrorsAboveAllowance(SampleRule):
    """An error is cheap to answer: a server that fails every request tops the table.

    So failures end a measurement.
    """

    code = "errors-above-allowance"
    severity = Severity.INVALID
    title = "More requests were wrong or failed than the scenario allows"
    threshold = (
        "wrong and failed requests over those sent, above the load's `error_allowance` (0 unless set); whatever it is, "
        "not one right response in the window. A connection that the server closes at rest is no request"
    )
    threshold_reason = (
        "the scenario's author knows which failures belong to the service, nothing else makes a failure normal; where "
        "all fail, there is no service to measure"
    )
    next_step = (
        "Read the first error of each class below and the server's log; fix the server, or lower the load if it is "
        "overrun."
    )
    own_failure = True
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Compare the share of errors with the allowance."""
        result = sample.result
        if result is None or not result.counts.sent:
            return
        counts, share_ = result.counts, error_share(result)
        if result.interrupted and counts.not_right == counts.unanswered:
            # Whoever interrupts a load does not wait for what is under way.
            return
        if share_ <= allowance(sample) and (counts.ok or not counts.not_right):
            return
        classes = {name: n for name, n in counts.errors if n}
        if counts.unanswered:
            classes["unanswered"] = counts.unanswered
        named = ", ".join(
            f"{number(n)} {name.replace('_', ' ')}" for name, n in sorted(classes.items(), key=lambda i: -i[1])
        )
        yield self.finding(
            f"{number(counts.not_right)} of {number(counts.sent)} requests were wrong or failed ({share(share_)}, "
            f"allowed {share(allowance(sample))}): {named}",
            sample=sample,
            evidence={
                "share": share_,
                "allowance": allowance(sample),
                "errors": classes,
                "status": result.counts.status,
                "first_errors": first_errors(result),
            },
        )
