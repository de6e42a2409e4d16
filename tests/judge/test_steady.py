"""Shapes of a load's series, each recognised, noise and single outliers left alone."""

import random

import pytest

from touchstone.judge.judgement import SteadyState
from touchstone.judge.statistics.steady import steady_state
from touchstone.record.engine import Point


def _steady(values: list[float], interval: float = 1.0) -> SteadyState:
    points = [Point(t=(i + 1) * interval, ok=round(v)) for i, v in enumerate(values)]
    return steady_state(points, contender="a/b", load="x", sample="s", margin=0.05, by_rate=True)


def _noisy(levels: list[tuple[int, float]], noise: float, seed: int) -> list[float]:
    rng = random.Random(seed)
    return [level * rng.gauss(1, noise) for count, level in levels for _ in range(count)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("noise", [0.005, 0.02, 0.05])
def test_noise_around_a_level_is_flat(noise: float, seed: int) -> None:
    assert _steady(_noisy([(30, 10_000)], noise, seed)).shape == "flat"


@pytest.mark.parametrize("seed", range(10))
def test_a_slow_beginning_is_warm_up(seed: int) -> None:
    steady = _steady(_noisy([(6, 6_000), (24, 10_000)], 0.02, seed))
    assert steady.shape == "warm-up"
    assert steady.steady_from_s is not None
    assert 4 <= steady.steady_from_s <= 8


@pytest.mark.parametrize("seed", range(10))
def test_a_fast_beginning_is_a_slowdown(seed: int) -> None:
    assert _steady(_noisy([(15, 10_000), (15, 8_000)], 0.02, seed)).shape == "slowdown"


@pytest.mark.parametrize("seed", range(10))
def test_a_change_near_the_end_is_no_steady_state(seed: int) -> None:
    steady = _steady(_noisy([(25, 10_000), (5, 7_000)], 0.02, seed))
    assert steady.shape == "no steady state"
    assert steady.steady_from_s is None


@pytest.mark.parametrize("at", [3, 12, 28])
def test_a_pause_of_one_second_is_no_change(at: int) -> None:
    values = _noisy([(30, 10_000)], 0.02, 1)
    values[at] = 500
    assert _steady(values).shape == "flat"


def test_a_change_below_the_margin_does_not_matter() -> None:
    assert _steady(_noisy([(15, 10_000), (15, 10_300)], 0.002, 2)).shape == "flat"


@pytest.mark.parametrize("values,interval", [([1000.0] * 5, 1.0), ([1000.0] * 30, 0.1), ([], 1.0)])
def test_a_short_window_says_nothing(values: list[float], interval: float) -> None:
    assert _steady(values, interval).shape == "too short"


def test_an_open_loop_is_read_by_its_latency() -> None:
    points = [Point(t=i + 1.0, ok=1000, p50=0.004 if i < 6 else 0.002) for i in range(30)]
    steady = steady_state(points, contender="a/b", load="x", sample="s", margin=0.05, by_rate=False)
    assert steady.shape == "warm-up"


def test_a_long_series_is_thinned() -> None:
    assert _steady(_noisy([(600, 1_000), (5_400, 1_400)], 0.05, 3), 0.1).shape == "warm-up"


@pytest.mark.parametrize("seed", range(20))
def test_pauses_for_collection_are_part_of_a_steady_state(seed: int) -> None:
    rng = random.Random(seed)
    values = [1_000 * rng.gauss(1, 0.05) for _ in range(100)]
    at = rng.randrange(0, 20)
    while at < len(values):
        for i in range(at, min(at + 4, len(values))):
            values[i] = 0
        at += rng.randrange(18, 24)
    assert _steady(values, 0.1).shape == "flat"


@pytest.mark.parametrize("seed", range(10))
def test_a_warm_up_shows_in_tenths_of_a_second(seed: int) -> None:
    assert _steady(_noisy([(20, 600), (40, 1_000)], 0.05, seed), 0.1).shape == "warm-up"
