"""The search finds a knee through noise, and its interval holds it."""

from __future__ import annotations

import math
import random

import pytest

from touchstone.phase.capacity.search import KneeSearch


def searched(knee: float, slope: float, lapse: float, seed: int, trials: int = 40) -> tuple[KneeSearch, int]:
    """A search on a server whose trials hold by chance around its knee, and at random now and then."""
    dice = random.Random(seed)
    search = KneeSearch(10.0, 60_000.0)
    for count in range(1, trials + 1):
        rate = search.next_rate()
        chance = 0.5 * (1 + math.erf(math.log(knee / rate) / slope / math.sqrt(2)))
        search.learn(rate, held=dice.random() < lapse / 2 + (1 - lapse) * chance)
        if search.known().width < 0.03:
            return search, count
    return search, trials


@pytest.mark.parametrize("knee", [15.0, 777.0, 12_345.0])
def test_a_sharp_knee_is_found_in_few_trials(knee: float) -> None:
    search, trials = searched(knee, 1e-4, 0.0, 1)
    assert search.known().rate == pytest.approx(knee, rel=0.01)
    assert trials <= 22


def test_trials_that_fail_by_luck_are_come_back_to() -> None:
    found = [searched(5_000.0, 0.03, 0.05, seed)[0].known() for seed in range(4)]
    assert all(abs(known.rate / 5_000 - 1) < 0.03 for known in found)
    assert sum(known.low <= 5_000 <= known.high for known in found) >= 3


def test_no_rate_is_tried_past_the_ceiling() -> None:
    search = KneeSearch(10.0, 60_000.0)
    search.ceiling = 900.0
    for _ in range(10):
        rate = search.next_rate()
        assert rate < 900.0
        search.learn(rate, held=True)
    assert search.above(880.0) > 0.9


def test_nothing_between_two_rates_is_refused() -> None:
    with pytest.raises(ValueError, match="no rate to search"):
        KneeSearch(10.0, 10.0)
