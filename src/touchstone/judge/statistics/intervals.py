"""Intervals, tests and their correction, on plain numbers. The mathematics is explained in docs/methodology.md."""

from __future__ import annotations

import math
import statistics
import sys
from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np

from touchstone.judge.statistics.decision import UNWIDENED, Interval, Widening, decides
from touchstone.judge.statistics.distributions import median_ranks, t_quantile

MIN_ROUNDS = 2
"""One round gives no interval. With two, Student's t asks 12.7 standard errors at 95 %: a contender twice as fast
shows, one that is a tenth faster does not.
"""

SEED = 20_260_101
"""The bootstrap's draws are fixed, so that the same record always gives the same judgement."""

_LARGEST = math.log(sys.float_info.max)


def log_effects(contender: dict[int, float], baseline: dict[int, float]) -> list[float]:
    """Natural logarithms of contender/baseline in each round that both have, in the order of rounds.

    Rounds in which a value is not positive are left out: a ratio means nothing there.
    """
    return [
        math.log(contender[r] / baseline[r])
        for r in sorted(contender.keys() & baseline.keys())
        if contender[r] > 0 and baseline[r] > 0
    ]


def mean_interval(values: Sequence[float], confidence: float) -> Interval | None:
    """The mean with its interval by Student's t; None if there are fewer than MIN_ROUNDS values.

    Student's t and not the bootstrap, at any number of rounds: where now and then a round is disturbed, BCa intervals
    were measured to hold the truth nine times in ten and not 95 times in a hundred (docs/methodology.md, calibration).
    """
    if len(values) < MIN_ROUNDS:
        return None
    data = np.asarray(values, dtype=float)
    mean = float(data.mean())
    spread = float(data.std(ddof=1))
    if spread <= 1e-12 * max(1.0, abs(mean)):
        return Interval(mean, mean, mean)
    half = t_quantile((1 + confidence) / 2, len(data) - 1) * spread / math.sqrt(len(data))
    return Interval(mean, mean - half, mean + half)


def ratio_of(logarithm: float) -> float:
    """The ratio of this logarithm; infinite where no number is as large: two wild rounds have such an interval."""
    return math.exp(logarithm) if logarithm < _LARGEST else math.inf


def ratio_interval(effects: Sequence[float], confidence: float) -> Interval | None:
    """The geometric mean of per-round ratios with its interval, from their logarithms (Kalibera and Jones 2013)."""
    interval = mean_interval(effects, confidence)
    if interval is None:
        return None
    return Interval(ratio_of(interval.point), ratio_of(interval.low), ratio_of(interval.high))


def unpaired_ratio_interval(
    contender: Sequence[float], baseline: Sequence[float], confidence: float
) -> Interval | None:
    """The ratio of geometric means of two independent series, contender/baseline (Welch's t on logarithms).

    For repetitions that are not paired by round. None if either has fewer than MIN_ROUNDS positive values.
    """
    a = np.log([v for v in contender if v > 0])
    b = np.log([v for v in baseline if v > 0])
    if min(len(a), len(b)) < MIN_ROUNDS:
        return None
    difference = float(a.mean() - b.mean())
    if a.std() <= 1e-12 and b.std() <= 1e-12:
        ratio = math.exp(difference)
        return Interval(ratio, ratio, ratio)
    # Welch (1947), with the degrees of freedom after Satterthwaite (1946).
    parts = [float(one.var(ddof=1)) / len(one) for one in (a, b)]
    freedom = sum(parts) ** 2 / sum(part**2 / (len(one) - 1) for part, one in zip(parts, (a, b), strict=True))
    half = t_quantile((1 + confidence) / 2, freedom) * math.sqrt(sum(parts))
    return Interval(ratio_of(difference), ratio_of(difference - half), ratio_of(difference + half))


def simultaneous(confidence: float, family: int) -> float:
    """The confidence of each of `family` intervals so that all of them hold together with `confidence`.

    Bonferroni's inequality, valid whatever the dependence between them. Simultaneous intervals, and not corrected
    p-values, so that the interval which is shown is the one that decides.
    """
    return 1 - (1 - confidence) / max(1, family)


def median_interval(values: Sequence[float], confidence: float) -> Interval | None:
    """The median with its interval. None below MIN_ROUNDS values.

    From order statistics (free of any distribution, at least the confidence asked) where there are enough values for
    it; with fewer, and all positive, from Student's t on logarithms, under which the median is the geometric mean.
    """
    if len(values) < MIN_ROUNDS:
        return None
    data = sorted(values)
    median = statistics.median(data)
    ranks = median_ranks(len(data), confidence)
    if ranks is not None:
        return Interval(median, *(data[rank] for rank in ranks))
    if data[0] <= 0:
        return None
    interval = ratio_interval([math.log(v) for v in data], confidence)
    assert interval is not None
    # With few rounds the geometric mean need not be the median; the interval is widened to hold both.
    return Interval(median, min(interval.low, median), max(interval.high, median))


def more_rounds(
    effects: Sequence[float],
    margin: float,
    confidence: float,
    comparisons: int = 1,
    most: int = 1000,
    *,
    widening: Widening = UNWIDENED,
) -> int | None:
    """How many further rounds would decide, if mean, spread and widening stay as they are.

    None: no number up to `most`, or too few rounds to say.

    Args:
        effects: log ratios, one a round.
        margin: the least effect that matters, as a share.
        confidence: of the family, for which the intervals are simultaneous.
        comparisons: the size of the family.
        most: how many are looked at.
        widening: of the interval that decides.

    """
    if len(effects) < MIN_ROUNDS:
        return None
    each = simultaneous(confidence, comparisons)
    return rounds_until(effects, each, most, widening, lambda low, high: decides(low, high, margin))


def rounds_until(
    values: Sequence[float], confidence: float, most: int, widening: Widening, decided: Callable[[float, float], bool]
) -> int | None:
    """How many further rounds would decide the mean's interval, if all else stays equal.

    None if `most` are too few. What is decided by an interval must be so by each interval within it.
    """
    data = np.asarray(values, dtype=float)
    mean, spread = float(data.mean()), float(data.std(ddof=1))
    below, above = widening

    def is_decided(more: int) -> bool:
        total = data.size + more
        half = t_quantile((1 + confidence) / 2, total - 1) * spread / math.sqrt(total)
        return decided(mean - half - below, mean + half + above)

    return bisect_left(range(1, most + 1), True, key=is_decided) + 1 if is_decided(most) else None
