"""Properties of the statistics: coverage, symmetry, and what correction and margin do."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from touchstone.judge.statistics.decision import Decision, decide, decides
from touchstone.judge.statistics.intervals import (
    log_effects,
    mean_interval,
    median_interval,
    more_rounds,
    ratio_interval,
    ratio_of,
    simultaneous,
    unpaired_ratio_interval,
)

effects = st.lists(st.floats(-0.5, 0.5), min_size=3, max_size=18)
positive = st.lists(st.floats(1e-6, 1e6), min_size=3, max_size=30)


@given(effects, st.floats(0.55, 0.95))
def test_an_interval_holds_its_point_and_widens_with_confidence(values: list[float], confidence: float) -> None:
    narrow, wide = mean_interval(values, confidence), mean_interval(values, confidence + 0.04)
    assert narrow is not None and wide is not None
    assert wide.low <= narrow.low <= narrow.point <= narrow.high <= wide.high


@given(effects)
def test_turning_the_pair_round_turns_the_interval_round(values: list[float]) -> None:
    there, back = ratio_interval(values, 0.95), ratio_interval([-v for v in values], 0.95)
    assert there is not None and back is not None
    assert there.low == pytest.approx(1 / back.high)
    assert there.high == pytest.approx(1 / back.low)


@given(positive, st.floats(0.1, 10))
def test_ratios_do_not_depend_on_the_unit(values: list[float], scale: float) -> None:
    contender = dict(enumerate(values))
    baseline = dict(enumerate(reversed(values)))
    a = log_effects(contender, baseline)
    b = log_effects({r: v * scale for r, v in contender.items()}, {r: v * scale for r, v in baseline.items()})
    assert a == pytest.approx(b, abs=1e-9)


def test_rounds_that_one_side_lacks_are_left_out() -> None:
    assert log_effects({1: 2.0, 2: 4.0, 3: 0.0}, {2: 2.0, 3: 1.0, 4: 1.0}) == [pytest.approx(math.log(2))]


@given(positive)
def test_the_median_lies_in_its_interval(values: list[float]) -> None:
    interval = median_interval(values, 0.95)
    assert interval is not None
    assert interval.low <= interval.point <= interval.high


def test_two_rounds_tell_what_is_many_times_their_scatter() -> None:
    twice, tenth = ([math.log(ratio * k) for k in (0.98, 1.02)] for ratio in (2.0, 1.1))
    decisions = [decide(interval, 0.05) for values in (twice, tenth) if (interval := ratio_interval(values, 0.95))]
    assert decisions == [Decision.HIGHER, Decision.OPEN]


@pytest.mark.parametrize("n", [0, 1])
def test_one_round_gives_no_interval(n: int) -> None:
    assert mean_interval([0.1] * n, 0.95) is None
    assert median_interval([0.1] * n, 0.95) is None


@pytest.mark.parametrize(("family", "each"), [(0, 0.95), (1, 0.95), (2, 0.975), (10, 0.995)])
def test_a_family_shares_its_error(family: int, each: float) -> None:
    assert simultaneous(0.95, family) == pytest.approx(each)


@given(effects, st.integers(2, 20))
def test_a_family_never_makes_a_difference_more_certain(values: list[float], family: int) -> None:
    alone, among = ratio_interval(values, 0.95), ratio_interval(values, simultaneous(0.95, family))
    assert alone is not None and among is not None
    assert among.low <= alone.low <= alone.high <= among.high


@given(effects)
def test_equivalence_needs_the_interval_within_the_margin(values: list[float]) -> None:
    # Two one-sided tests at 2.5 % are the 95 % interval within the margin.
    interval, bound = mean_interval(values, 0.95), math.log1p(0.05)
    assert interval is not None
    if interval.low == interval.high:
        return
    above = stats.ttest_1samp(values, -bound, alternative="greater").pvalue
    p = max(above, stats.ttest_1samp(values, bound, alternative="less").pvalue)
    within = -bound < interval.low and interval.high < bound
    if abs(p - 0.025) > 1e-6:
        assert within == (p < 0.025)


@given(effects, st.floats(0.01, 0.2), st.tuples(st.floats(0, 0.3), st.floats(0, 0.3)))
def test_the_rounds_that_are_said_to_decide_do_so_and_one_fewer_does_not(
    values: list[float], margin: float, widening: tuple[float, float]
) -> None:
    more = more_rounds(values, margin, 0.95, most=300, widening=widening)
    if more is None:
        return
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))

    def half(n: int) -> float:
        return float(stats.t.ppf(0.975, n - 1)) * spread / math.sqrt(n)

    n = len(values) + more
    below, above = widening
    assert decides(mean - half(n) - below + 1e-12, mean + half(n) + above - 1e-12, margin)
    if more > 1:
        assert not decides(mean - half(n - 1) - below - 1e-12, mean + half(n - 1) + above + 1e-12, margin)


@pytest.mark.parametrize(("widening", "decided"), [((0.0, math.inf), False), ((math.inf, 0.0), True)])
def test_an_open_side_decides_on_the_other_one(widening: tuple[float, float], decided: bool) -> None:
    more = more_rounds([-0.3, -0.1, -0.5, 0.1, -0.2], 0.05, 0.95, widening=widening)
    assert (more is not None) is decided


def test_the_family_costs_rounds() -> None:
    values = [0.02, 0.09, -0.03, 0.08, 0.04]
    alone, among_ten = more_rounds(values, 0.05, 0.95), more_rounds(values, 0.05, 0.95, comparisons=10)
    assert alone is not None and among_ten is not None
    assert among_ten > alone


@pytest.mark.parametrize("rounds", [5, 10, 24])
def test_the_interval_contains_the_truth_at_its_rate(rounds: int) -> None:
    rng = random.Random(rounds)
    runs = 400
    hits = 0
    for _ in range(runs):
        interval = ratio_interval([math.log(1.1) + rng.gauss(0, 0.05) for _ in range(rounds)], 0.95)
        assert interval is not None
        hits += interval.low <= 1.1 <= interval.high
    # Three standard errors of a binomial around 95 % are 3.3 points at 400 runs.
    assert hits / runs >= 0.95 - 0.033


def test_unpaired_series_use_their_own_spread() -> None:
    rng = random.Random(4)
    a = [math.exp(rng.gauss(math.log(2), 0.1)) for _ in range(20)]
    b = [math.exp(rng.gauss(0, 0.1)) for _ in range(20)]
    found = unpaired_ratio_interval(a, b, 0.95)
    assert found is not None
    assert 1 < found.low < 2 < found.high
    assert unpaired_ratio_interval(a[:1], b, 0.95) is None


def test_an_interval_beyond_all_numbers_has_an_open_end() -> None:
    wild = ratio_interval([0.0, 200.0], 0.95)
    assert wild is not None
    assert math.isinf(wild.high)
    assert wild.low == 0
    assert ratio_of(math.log(3)) == pytest.approx(3)
