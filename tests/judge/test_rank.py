"""Rank groups hold contenders that intervals do not separate, and depend on nothing but the run."""

from __future__ import annotations

import pytest

from touchstone.judge.comparison.rank import rank_groups, ranked_intervals
from touchstone.judge.judgement import Comparison, Estimate, Verdict


@pytest.mark.parametrize(
    ("figure", "intervals", "groups"),
    [
        ("throughput", {"a": (10, 12), "b": (11, 13), "c": (5, 6)}, {"b": 1, "a": 1, "c": 2}),
        ("latency_p99", {"a": (10, 12), "b": (11, 13), "c": (5, 6)}, {"c": 1, "a": 2, "b": 2}),
        # The third overlaps the second, and not the first of the group.
        ("throughput", {"a": (10, 12), "b": (8, 11), "c": (7, 9)}, {"a": 1, "b": 1, "c": 2}),
        ("throughput", {"a": (10, 12), "b": (12, 13)}, {"b": 1, "a": 1}),
        ("throughput", {"a": (1, 1), "b": (1, 1)}, {"a": 1, "b": 1}),
        ("throughput", {}, {}),
    ],
)
def test_contenders_that_overlap_the_best_of_a_group_share_it(
    figure: str, intervals: dict[str, tuple[float, float]], groups: dict[str, int]
) -> None:
    assert rank_groups(intervals, figure) == groups


def estimate(contender: str, low: float | None, high: float | None, verdict: Verdict = Verdict.VALID) -> Estimate:
    found = {"phase": "load", "load": "ping", "figure": "throughput", "median": 1.0}
    return Estimate(contender=contender, low=low, high=high, verdict=verdict, **found)


def compared(contender: str, low: float, high: float) -> Comparison:
    found = {"phase": "load", "load": "ping", "figure": "throughput", "ratio": (low + high) / 2}
    return Comparison(contender=contender, baseline="a", low=low, high=high, **found)


def test_ratios_separate_where_all_contenders_have_one() -> None:
    estimates = [estimate("a", 5, 50), estimate("b", 6, 60)]
    assert ranked_intervals(estimates, [compared("b", 1.1, 1.2)]) == {"a": (1.0, 1.0), "b": (1.1, 1.2)}
    others = [*estimates, estimate("c", 7, 70)]
    assert ranked_intervals(others, [compared("b", 1.1, 1.2)]) == {"a": (5, 50), "b": (6, 60), "c": (7, 70)}


def test_what_is_invalid_or_has_no_interval_is_left_out() -> None:
    estimates = [estimate("a", 5, 50), estimate("b", None, None), estimate("c", 1, 2, Verdict.INVALID)]
    assert ranked_intervals(estimates, []) == {"a": (5, 50)}
    both = [estimate("a", 5, 50), estimate("b", 6, 60)]
    assert ranked_intervals(both, [compared("b", 0.5, float("inf"))]) == {"a": (1.0, 1.0)}
