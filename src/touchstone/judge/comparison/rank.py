"""Rank groups: contenders without a proven difference share a group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from touchstone.judge.judgement import Comparison, Estimate, Verdict
from touchstone.vocabulary.figure import FIGURES, Better

Interval = tuple[float, float]


def ranked_intervals(estimates: Sequence[Estimate], comparisons: Sequence[Comparison]) -> Mapping[str, Interval]:
    """The intervals that separate contenders in a figure under one load of a run.

    Ratios to the baseline are taken where all have one: the machine's noise cancels in them. Else the figures' own
    intervals. Contenders with an invalid figure, and without an interval that is bounded on both sides, are
    left out.
    """
    valid = [e for e in estimates if e.verdict is not Verdict.INVALID and e.median is not None]
    ratios = {
        c.contender: (c.low, c.high)
        for c in comparisons
        if c.low is not None and c.high is not None and c.verdict is not Verdict.INVALID
    }
    ratios |= {c.baseline: (1.0, 1.0) for c in comparisons[:1]}
    own = {e.contender: (e.low, e.high) for e in valid if e.low is not None and e.high is not None}
    if len(valid) > 1 and all(e.contender in ratios for e in valid):
        own = {e.contender: ratios[e.contender] for e in valid}
    # An interval with an open end separates its contender from nobody, and would join all others.
    return {name: ends for name, ends in own.items() if all(map(math.isfinite, ends))}


def rank_groups(intervals: Mapping[str, Interval], figure: str) -> Mapping[str, int]:
    """The group of each contender, from 1 on.

    A group begins with the best contender that is left, and holds all whose intervals overlap that one's. So a group
    depends on all contenders of the run, never on those that are shown. A figure that is neither better high nor low
    has no groups.
    """
    better = FIGURES[figure].better
    if better is Better.NEITHER:
        return {}
    sign = -1 if better is Better.HIGHER else 1
    # The end of an interval that counts for a contender comes first.
    ends = {name: sorted((sign * low, sign * high)) for name, (low, high) in intervals.items()}
    groups: dict[str, int] = {}
    number, leader_end = 0, float("-inf")
    for name, (best, worst) in sorted(ends.items(), key=lambda one: (sum(one[1]), one[0])):
        if best > leader_end:
            number, leader_end = number + 1, worst
        groups[name] = number
    return groups
