from __future__ import annotations

import itertools
from collections import Counter

import pytest

from touchstone.plan.laps import balanced_laps, shortest_slice, slice_lengths


@pytest.mark.parametrize("count", range(2, 9))
def test_each_stands_everywhere_and_follows_each_equally_often(count: int) -> None:
    laps = balanced_laps(count, count if count % 2 == 0 else 2 * count)
    places = Counter((place, who) for lap in laps for place, who in enumerate(lap))
    follows = Counter(pair for lap in laps for pair in itertools.pairwise(lap))
    assert all(sorted(lap) == list(range(count)) for lap in laps)
    assert len(set(places.values())) == 1
    assert len(set(follows.values())) == 1
    assert len(follows) == count * (count - 1)


def test_one_contender_has_laps_too() -> None:
    assert balanced_laps(1, 3) == [[0], [0], [0]]


def test_the_shortest_slice_holds_whole_generations_of_the_slowest() -> None:
    assert shortest_slice(64, 640.0) == pytest.approx(0.4)
    assert shortest_slice(64, 0.0) == 0.0


def test_all_have_equal_slices_unless_one_is_slow_by_seconds() -> None:
    assert slice_lengths(64, {0: 20_000.0, 1: 640.0}, 0.25) == pytest.approx({0: 0.4, 1: 0.4})
    assert slice_lengths(100, {0: 20_000.0, 1: 42.0}, 0.25) == pytest.approx({0: 0.25, 1: 400 / 42})
    assert slice_lengths(100, {0: 20_000.0, 1: 1.0}, 0.25)[1] == pytest.approx(20.0)
    assert slice_lengths(64, {0: 0.0}, 0.25) == {0: 0.25}
