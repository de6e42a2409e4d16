"""Rule: the server was throttled."""

from __future__ import annotations

import re
from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

SHARE = 0.01
CUT_SHARE = 0.1
LEAST_PERIODS = 10
_LABS_OWN = re.compile(r"/(touchstone-\d+-|libpod-|docker[/-])[^/]+$")
"""The group of a contender, or of its container; that of the lab around it can have a quota of its own."""


class CpuThrottled(SampleRule):
    """A CPU quota stops a server for the rest of each period.

    The latencies then show the quota. A limit that the run or the load asks for is no fault of theirs.
    """

    code = "cpu-throttled"
    severity = Severity.SUSPECT
    title = "The server was throttled"
    threshold = (
        "the quotas of the cgroups in which its processes were, or of those above, kept it off the CPU for more than "
        "1 % of the window; or cut short more than one of ten of at least 10 periods"
    )
    threshold_reason = (
        "a period is 100 ms, so at 1 % about one period in ten of a ten-second window was cut short, which is "
        "seen at p99; below 10 periods one cut more or less decides"
    )
    next_step = "Raise or remove the CPU quota of the cgroup, or of the container that the lab runs in."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or result.watch is None:
            return
        window, measured_s = result.watch.window, result.window.measured_s
        throttled_s, periods, cut = window.throttled_s or 0.0, window.periods or 0, window.throttled_periods or 0
        if throttled_s <= SHARE * measured_s and (periods < LEAST_PERIODS or cut <= CUT_SHARE * periods):
            return
        counted = f", in {number(cut)} of {number(periods)} periods" if periods else ""
        groups = result.watch.throttled
        if sample.placement.cpu_limit is not None and all(_LABS_OWN.search(group.cgroup) for group in groups):
            # The limit that was asked for: what it does is measured, and is a figure of its own.
            return
        where = f", by the quota of {groups[0].cgroup}" if groups else ""
        yield self.finding(
            f"the server was throttled for {seconds(throttled_s)} of {seconds(measured_s)}{counted}{where}",
            sample=sample,
            figures=[*SPEED, *CPU],
            evidence={
                "throttled_s": throttled_s,
                "measured_s": measured_s,
                "periods": periods,
                "throttled_periods": cut,
                "cgroups": [group.model_dump() for group in groups],
            },
        )
