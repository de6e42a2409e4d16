"""The judge's own statistics against those of scipy.stats and ruptures, which take too long to load for `show`."""

import math

import numpy as np
import pytest
import ruptures
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import ndimage, stats

from touchstone.judge.statistics.decision import Widening, decides
from touchstone.judge.statistics.distributions import (
    at_least,
    at_most,
    median_ranks,
    order_chance,
    t_above,
    t_quantile,
)
from touchstone.judge.statistics.intervals import rounds_until, unpaired_ratio_interval
from touchstone.judge.statistics.steady import SEGMENT, level_ends
from touchstone.judge.statistics.trend import STRAIGHT, straight_slope, theil_sen

VALUES = st.lists(st.integers(-50, 50).map(float), min_size=4, max_size=40)


@pytest.mark.parametrize("freedom", [1, 2, 2.7, 9, 100, 5000])
@pytest.mark.parametrize("p", [0.6, 0.75, 0.975, 0.9999, 0.9999999])
def test_quantiles_of_students_t(p: float, freedom: float) -> None:
    assert t_quantile(p, freedom) == pytest.approx(stats.t.ppf(p, freedom), rel=1e-11)
    assert t_above(t_quantile(p, freedom), freedom) == pytest.approx(1 - p, rel=1e-9)


def test_the_middle_of_students_t_is_0() -> None:
    assert t_quantile(0.5, 3) == 0.0


@given(
    st.lists(st.floats(-1, 1), min_size=2, max_size=6),
    st.floats(0.01, 0.2),
    st.tuples(st.floats(0, 0.1), st.floats(0, 0.1)),
)
def test_rounds_that_decide_are_the_first_that_do(values: list[float], margin: float, widening: Widening) -> None:
    def decided(low: float, high: float) -> bool:
        return decides(low, high, margin)

    found = rounds_until(values, 0.95, 60, widening, decided)
    tried = (rounds_until(values, 0.95, most, widening, decided) for most in range(1, 61))
    assert found == next((more for more in tried if more is not None), None)


@given(st.integers(1, 60), st.integers(0, 60), st.sampled_from([0.01, 0.3, 0.5, 0.95]))
def test_chances_of_hits(trials: int, hits: int, chance: float) -> None:
    hits = min(hits, trials)
    assert at_most(hits, trials, chance) == pytest.approx(stats.binom.cdf(hits, trials, chance), rel=1e-9)
    test = stats.binomtest(hits, trials, chance, alternative="greater")
    assert at_least(hits, trials, chance) == pytest.approx(test.pvalue, rel=1e-9)


@given(st.integers(2, 60), st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999]))
def test_ranks_of_the_median(count: int, confidence: float) -> None:
    expected = stats.quantile_test(np.arange(count), p=0.5).confidence_interval(confidence)
    known = math.isfinite(expected.low) and math.isfinite(expected.high)
    assert median_ranks(count, confidence) == ((expected.low, expected.high) if known else None)


@given(st.lists(st.integers(-50, 50).map(float), min_size=2, max_size=40))
@example([1.0, 2.0, 3.0, 4.0])
@example([4.0, 3.0, 2.0])
@example([1.0, 2.0])
@example([float(n) for n in range(33)])
@example([float(n) for n in range(34)])
@example([float(n * 7 % 33) for n in range(33)])
@example([2.0, 2.0, 1.0])
def test_chances_of_an_order(values: list[float]) -> None:
    expected = stats.kendalltau(range(len(values)), values).pvalue
    known = len(set(values)) > 1
    assert order_chance(values) == pytest.approx(expected if known else 1.0, rel=1e-9, abs=1e-15)


@given(VALUES)
def test_the_median_of_slopes(values: list[float]) -> None:
    at = np.cumsum([1.0 + (n % 3) for n in range(len(values))]).tolist()
    line, expected = theil_sen(at, values), stats.theilslopes(values, at)
    assert (line.slope, line.intercept, line.low) == (expected.slope, expected.intercept, expected.low_slope)


@given(VALUES, st.integers(-9, 9))
@example([0.0] * 4, 0)
@example([0.0, 3.0, 1.0, 2.0], 0)
@example([0.0, 3.0, 1.0, 2.0], 9)
@example([0.0, 3.0, 1.0, 2.0], -9)
def test_the_slope_of_a_straight_line(noise: list[float], steep: int) -> None:
    at = range(len(noise))
    values = [steep * x + y for x, y in zip(at, noise, strict=True)]
    slope = straight_slope(at, values)
    if len(set(values)) == 1:
        assert slope is None
        return
    expected = stats.linregress(at, values)
    assume(abs(expected.rvalue**2 - STRAIGHT) > 1e-9)
    assert (slope is not None) == (expected.rvalue**2 >= STRAIGHT)
    if slope is not None:
        assert slope == pytest.approx(expected.slope, rel=1e-9, abs=1e-9)


def test_points_of_one_moment_have_no_slope() -> None:
    assert straight_slope([2.0, 2.0], [1.0, 3.0]) is None


@given(st.lists(st.floats(1, 100), min_size=2, max_size=12), st.lists(st.floats(1, 100), min_size=2, max_size=12))
def test_welchs_interval(one: list[float], other: list[float]) -> None:
    a, b = np.log(one), np.log(other)
    assume(min(a.std(), b.std()) > 1e-6)
    found, expected = unpaired_ratio_interval(one, other, 0.95), stats.ttest_ind(a, b, equal_var=False)
    assert found is not None
    ends = expected.confidence_interval(0.95)
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((ends.low, ends.high), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("step", [0.0, 0.05, 1.0])
def test_levels_of_a_series(seed: int, step: float) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(8, 240))
    levels = np.repeat(rng.normal(0, 1, count // 20 + 1), 20)[:count] * step
    series = ndimage.median_filter(levels + rng.normal(0, 0.05, count), size=3, mode="nearest")
    penalty = 4 * 0.05**2 * math.log(count)
    expected = ruptures.KernelCPD(kernel="linear", min_size=SEGMENT).fit(series.reshape(-1, 1)).predict(pen=penalty)
    assert level_ends(series, penalty, SEGMENT) == expected
