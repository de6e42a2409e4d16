"""Rule: responses had the right status and the wrong body."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import allowance, error_share, first_errors
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class WrongBodies(SampleRule):
    """A 200 with an error page, a stale row or half a body counts as success in tools that read the status alone."""

    code = "wrong-bodies"
    severity = Severity.INVALID
    title = "Responses had the wrong body"
    threshold = "any wrong body: invalid above the load's error allowance, otherwise suspect"
    threshold_reason = "the expected body follows from the request, so one wrong body is a fault and not noise"
    next_step = (
        "Compare the body received with the one expected below; fix the server, or the expectation if it is too strict."
    )
    own_failure = True
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look for wrong bodies."""
        result = sample.result
        if result is None or not result.counts.errors.wrong_body:
            return
        count, sent = result.counts.errors.wrong_body, max(1, result.counts.sent)
        shown = first_errors(result, "wrong_body")
        why = f": {shown[0]['why']}" if shown and shown[0]["why"] else ""
        yield self.finding(
            f"{number(count)} of {number(sent)} responses ({share(count / sent)}) had the wrong body{why}",
            severity=Severity.INVALID if error_share(result) > allowance(sample) else Severity.SUSPECT,
            sample=sample,
            evidence={"wrong_bodies": count, "sent": sent, "first_errors": shown},
        )
