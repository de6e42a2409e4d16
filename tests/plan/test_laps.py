from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from touchstone.plan.laps import balanced_laps, shortest_slice, slice_lengths


@pytest.mark.parametrize("count", range(2, 9))
def test_each_stands_everywhere_and_follows_each_equally_often(count: int) -> None:
    laps = balanced_laps(count, count if count % 2 == 0 else 2 * count, random.Random(count))
    places = Counter((place, who) for lap in laps for place, who in enumerate(lap))
    follows = Counter(pair for lap in laps for pair in itertools.pairwise(lap))
    assert all(sorted(lap) == list(range(count)) for lap in laps)
    assert len(set(places.values())) == 1
    assert len(set(follows.values())) == 1
    assert len(follows) == count * (count - 1)


def test_one_contender_has_laps_too() -> None:
    assert balanced_laps(1, 3, random.Random(1)) == [[0], [0], [0]]


def test_turns_keep_step_with_nothing_that_a_service_does_again_and_again() -> None:
    def met(seed: int) -> int:
        """How many of a contender's eight turns meet what happens once in four turns' time."""
        turns = itertools.chain.from_iterable(balanced_laps(9, 8, random.Random(seed)))
        return sum(who == 0 and place % 4 == 0 for place, who in enumerate(turns))

    counts = [met(seed) for seed in range(500)]
    assert 1.8 < sum(counts) / len(counts) < 2.2
    # Eight throws of a die with four sides: none in a tenth of the games.
    assert 0.05 < counts.count(0) / len(counts) < 0.15


def test_an_order_is_drawn_again_from_its_seed() -> None:
    assert balanced_laps(5, 7, random.Random("a")) == balanced_laps(5, 7, random.Random("a"))
    assert balanced_laps(5, 7, random.Random("a")) != balanced_laps(5, 7, random.Random("b"))


def test_the_shortest_slice_holds_whole_generations_of_the_slowest() -> None:
    assert shortest_slice(64, 640.0) == pytest.approx(0.4)
    assert shortest_slice(64, 0.0) == 0.0


def test_all_have_equal_slices_unless_one_is_slow_by_seconds() -> None:
    assert slice_lengths(64, {0: 20_000.0, 1: 640.0}, 0.25) == pytest.approx({0: 0.4, 1: 0.4})
    assert slice_lengths(100, {0: 20_000.0, 1: 42.0}, 0.25) == pytest.approx({0: 0.25, 1: 400 / 42})
    assert slice_lengths(100, {0: 20_000.0, 1: 1.0}, 0.25)[1] == pytest.approx(20.0)
    assert slice_lengths(64, {0: 0.0}, 0.25) == {0: 0.25}
