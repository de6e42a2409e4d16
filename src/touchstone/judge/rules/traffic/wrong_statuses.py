"""Rule: responses had a status that the scenario does not expect."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import allowance, error_share, first_errors
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class WrongStatuses(SampleRule):
    """Error pages are quick to make.

    Ranked as answers they win.
    """

    code = "wrong-statuses"
    severity = Severity.INVALID
    title = "Responses had a status that the scenario does not expect"
    threshold = "any unexpected status: invalid above the load's error allowance, otherwise suspect"
    threshold_reason = (
        "which statuses are right is stated by the scenario (a 429 may be); any other is a failure that was answered"
    )
    next_step = (
        "Look at the statuses and the first wrong response below; fix the server, or state the status in the "
        "scenario if it is right."
    )
    own_failure = True
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or not result.counts.errors.wrong_status:
            return
        count, sent = result.counts.errors.wrong_status, max(1, result.counts.sent)
        statuses = ", ".join(f"{number(n)} of {status}" for status, n in sorted(result.counts.status.items()))
        yield self.finding(
            f"{number(count)} of {number(sent)} responses ({share(count / sent)}) had an unexpected status; seen: "
            f"{statuses}",
            severity=Severity.INVALID if error_share(result) > allowance(sample) else Severity.SUSPECT,
            sample=sample,
            evidence={"status": result.counts.status, "first_errors": first_errors(result, "wrong_status")},
        )
