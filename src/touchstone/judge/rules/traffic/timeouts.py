"""Rule: requests were never answered in time."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import allowance, error_share, first_errors
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class Timeouts(SampleRule):
    """A request that timed out took at least the timeout; how much longer nobody knows, so the tail is cut off."""

    code = "timeouts"
    severity = Severity.INVALID
    title = "Requests timed out"
    threshold = "any timeout: invalid above the load's error allowance, otherwise suspect for latencies alone"
    threshold_reason = (
        "a single timeout is many times the usual latency, and the longest latencies then show the timeout's setting"
    )
    next_step = (
        "See whether the server stalls (its log, its CPU over time) or is overrun; lower the rate, or raise the "
        "timeout "
        "so that the whole wait is measured."
    )
    own_failure = True
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look for timeouts."""
        result = sample.result
        if result is None or not result.counts.errors.timeout:
            return
        count, sent = result.counts.errors.timeout, max(1, result.counts.sent)
        above = error_share(result) > allowance(sample)
        yield self.finding(
            f"{number(count)} of {number(sent)} requests timed out ({share(count / sent)})",
            severity=Severity.INVALID if above else Severity.SUSPECT,
            sample=sample,
            figures=None if above else LATENCY,
            evidence={"timeouts": count, "sent": sent, "first_errors": first_errors(result, "timeout")},
        )
