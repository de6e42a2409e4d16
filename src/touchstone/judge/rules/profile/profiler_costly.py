"""Rule: the profiler changed what it looked at."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule

SHARE = 0.05


class ProfilerCostly(GroupRule):
    """A profiler interrupts the program about a thousand times per second of CPU, and walks its stack each time.

    What that adds is not spread evenly: deep stacks and short functions bear more of it.
    """

    code = "profiler-costly"
    severity = Severity.SUSPECT
    title = "The profiler changed what it looked at"
    threshold = "CPU per request in the profiled passes lies more than 5 % above that of the passes without a profiler"
    threshold_reason = "parts of a difference are told apart from a few percent on: a profiler must cost less than they"
    next_step = "Read the parts with care: at a lower rate of requests, or on a quieter machine, it may cost less."
    phases = ("profile",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one contender under one load, at the median of its rounds."""
        costs = [s.figures["profiler_cost"] for s in group.samples if "profiler_cost" in s.figures]
        if costs and (cost := statistics.median(costs)) > SHARE:
            yield self.finding(
                f"with the profiler it takes {share(cost)} more CPU per request than without",
                group=group,
                figures=["profiler_cost"],
                evidence={"costs": costs},
            )
