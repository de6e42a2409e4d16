"""Rule: the server was throttled."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.case import Case
from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.quantity import seconds
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

SHARE = 0.01


class CpuThrottled(SampleRule):
    """A CPU quota stops a server for the rest of each period.

    The latencies then show the quota.
    """

    code = "cpu-throttled"
    severity = Severity.SUSPECT
    title = "The server was throttled"
    threshold = "throttled for more than 1 % of the window"
    threshold_reason = (
        "a period is 100 ms, so at 1 % about one period in ten of a ten-second window was cut short, which is "
        "seen at p99"
    )
    next_step = "Raise or remove the CPU quota of the cgroup, or of the container that the lab runs in."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        throttled = result.watch.window.throttled_s if result and result.watch else None
        if result is None or not throttled or throttled <= SHARE * result.window.measured_s:
            return
        yield self.finding(
            f"the server was throttled for {seconds(throttled)} of {seconds(result.window.measured_s)}",
            sample=sample,
            figures=[*SPEED, *CPU],
            evidence={"throttled_s": throttled, "measured_s": result.window.measured_s},
        )
