"""Rule: the timeout is longer than warm-up and window together."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import timeout_s
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class TimeoutBeyondWindow(SampleRule):
    """A request that is never answered is counted when it times out, and here no timeout can fall into the window."""

    code = "timeout-beyond-window"
    severity = Severity.SUSPECT
    title = "The timeout is longer than warm-up and window together"
    threshold = (
        "the load's timeout above the seconds of warm-up and window together, and a request that timed out or was left "
        "without a response"
    )
    threshold_reason = (
        "with such a timeout a silent service shows no error within the window; what it left open is then all there is "
        "to see"
    )
    next_step = "Give the load a timeout_s shorter than its window, or take a longer profile."
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or result.interrupted:
            return
        timeout, watched = timeout_s(sample), result.window.warmup_s + result.window.measured_s
        if timeout is None or not watched or timeout <= watched:
            return
        open_ends = result.counts.unanswered
        if not open_ends and not result.counts.errors.timeout:
            return
        yield self.finding(
            f"a request may take {seconds(timeout)}, and warm-up and window took {seconds(watched)}; "
            f"{open_ends} requests were left without a response",
            sample=sample,
            evidence={"timeout_s": timeout, "watched_s": watched, "unanswered": open_ends},
        )
