"""Rule: the copy that was built for the profiler is not the program that is explained."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule
from touchstone.judge.statistics.intervals import mean_interval


class ProfileCopyDiffers(GroupRule):
    """A profiler needs symbols and frame pointers, and a program that ships has neither.

    So a copy is built with them. Frame pointers take a register, and line tables may change what is inlined: where the
    copy's CPU per request is not the original's, its parts are not the original's parts.
    """

    code = "profile-copy-differs"
    severity = Severity.SUSPECT
    title = "The copy that was profiled is not the original"
    threshold = (
        "without a profiler, the copy's CPU per request differs from the original's by more than the run's margin, "
        "and from two rounds on the 95 % interval of the difference leaves 0 out"
    )
    threshold_reason = (
        "the margin is the least effect that matters; the passes follow each other, so one round can differ by noise"
    )
    next_step = "Change the flags in the variant's `profiled` to ones that cost less, or measure more rounds."
    phases = ("profile",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one contender under one load, at the median of its rounds."""
        costs = [s.figures["profile_copy_cost"] for s in group.samples if "profile_copy_cost" in s.figures]
        if costs and abs(cost := statistics.median(costs)) > case.margin and not _may_be_none(costs, case.confidence):
            yield self.finding(
                f"the copy takes {share(abs(cost))} {'more' if cost > 0 else 'less'} CPU per request than the original",
                group=group,
                figures=["profile_copy_cost"],
                evidence={"costs": costs, "margin": case.margin},
            )


def _may_be_none(costs: Sequence[float], confidence: float) -> bool:
    """Whether rounds scatter so that there may be no difference; one alone cannot say so."""
    interval = mean_interval(costs, confidence)
    return interval is not None and interval.low <= 0 <= interval.high
