"""Rule: a stall that a closed loop hides."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import loop
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

STALL_S = 1.0
TIMES = 100
PART = 0.05


class StallInClosedLoop(SampleRule):
    """While a server stalls, a closed loop sends nothing.

    The requests that users would have sent then are missing, and percentiles look better than they were.
    """

    code = "stall-in-closed-loop"
    severity = Severity.NOTE
    title = "A stall that a closed loop hides"
    threshold = (
        "closed loop: one latency above 1 s that is also more than 100 times p99, and more than 5 % of the window"
    )
    threshold_reason = (
        "a collector's pause or a lock of a few hundred milliseconds stays below 1 s; above it users notice, and "
        "p99 does not"
    )
    next_step = "Measure the same with an open loop at a fixed rate; its percentiles include the stall."
    # A start under load stalls by its nature.
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or loop(sample) != "closed" or not result.window.measured_s:
            return
        longest, p99 = result.latency.max, result.latency.p99
        if longest is None or p99 is None:
            return
        if longest > STALL_S and longest > TIMES * p99 and longest > PART * result.window.measured_s:
            yield self.finding(
                f"one request took {seconds(longest)} while p99 is {seconds(p99)}: the loop waited with it",
                sample=sample,
                evidence={"max_s": longest, "p99_s": p99},
            )
