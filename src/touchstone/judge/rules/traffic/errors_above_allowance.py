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
    title = "More requests failed than the scenario allows"
    threshold = (
        "errors of all classes over requests sent, above the load's `error_allowance` (0 unless set); whatever it is, "
        "not one right response in the window"
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
        errors = result.counts.errors
        share_ = error_share(result)
        if share_ <= allowance(sample) and (result.counts.ok or not errors.total):
            return
        classes = {name: n for name, n in errors if n and name != "closed_idle"}
        named = ", ".join(
            f"{number(n)} {name.replace('_', ' ')}" for name, n in sorted(classes.items(), key=lambda i: -i[1])
        )
        yield self.finding(
            f"{number(errors.total)} of {number(result.counts.sent)} requests failed ({share(share_)}, "
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
