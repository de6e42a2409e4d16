"""Intervals, tests and their correction, on plain numbers. The mathematics is explained in docs/methodology.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy

MIN_ROUNDS = 2
"""One round gives no interval. With two, Student's t asks 12.7 standard errors at 95 %: a contender twice as fast
shows, one that is a tenth faster does not.
"""

RESAMPLES = 1999
SEED = 20_260_101
"""The bootstrap's draws are fixed, so that the same record always gives the same judgement."""


@dataclass(frozen=True)
class Interval:
    """A point estimate with its confidence interval, in the unit of the values."""

    point: float
    low: float
    high: float


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
    half = float(scipy.stats.t.ppf((1 + confidence) / 2, len(data) - 1)) * spread / math.sqrt(len(data))
    return Interval(mean, mean - half, mean + half)


def bootstrap_interval(values: Sequence[float], confidence: float) -> Interval | None:
    """The mean with its bias-corrected and accelerated bootstrap interval (Efron 1987), for calibration next to t's."""
    if len(values) < MIN_ROUNDS:
        return None
    data = np.asarray(values, dtype=float)
    result = scipy.stats.bootstrap(
        (data,),
        np.mean,
        confidence_level=confidence,
        n_resamples=RESAMPLES,
        method="BCa",
        rng=np.random.default_rng(SEED),
    )
    bounds = result.confidence_interval
    return Interval(float(data.mean()), float(bounds.low), float(bounds.high))


def ratio_interval(effects: Sequence[float], confidence: float) -> Interval | None:
    """The geometric mean of per-round ratios with its interval, from their logarithms (Kalibera and Jones 2013)."""
    interval = mean_interval(effects, confidence)
    if interval is None:
        return None
    return Interval(math.exp(interval.point), math.exp(interval.low), math.exp(interval.high))


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
    test = scipy.stats.ttest_ind(a, b, equal_var=False)
    bounds = test.confidence_interval(confidence)
    return Interval(math.exp(difference), math.exp(bounds.low), math.exp(bounds.high))


def equivalence_p(effects: Sequence[float], margin: float) -> float | None:
    """The p-value of two one-sided tests (Schuirmann 1987); None below MIN_ROUNDS.

    Small means that the ratio lies between 1/(1+margin) and 1+margin.
    """
    if len(effects) < MIN_ROUNDS:
        return None
    data = np.asarray(effects, dtype=float)
    bound = math.log1p(margin)
    if float(data.std(ddof=1)) <= 1e-12:
        return 0.0 if abs(float(data.mean())) < bound else 1.0
    above = scipy.stats.ttest_1samp(data, -bound, alternative="greater").pvalue
    below = scipy.stats.ttest_1samp(data, bound, alternative="less").pvalue
    return float(max(above, below))


def simultaneous(confidence: float, family: int) -> float:
    """The confidence of each of `family` intervals so that all of them hold together with `confidence`.

    Bonferroni's inequality, valid whatever the dependence between them. Simultaneous intervals, and not corrected
    p-values, so that the interval which is shown is the one that decides.
    """
    return 1 - (1 - confidence) / max(1, family)


def median_interval(values: Sequence[float], confidence: float) -> Interval | None:
    """The median with its interval. None below MIN_ROUNDS values.

    From order statistics (free of any distribution, at least the confidence asked) where there are enough values for
    it;
    with fewer, and all positive, from Student's t on logarithms, under which the median is the geometric mean.
    """
    if len(values) < MIN_ROUNDS:
        return None
    data = sorted(values)
    median = float(np.median(data))
    n = len(data)
    if 2 * 0.5**n <= 1 - confidence:
        result = scipy.stats.quantile_test(data, p=0.5).confidence_interval(confidence)
        if math.isfinite(result.low) and math.isfinite(result.high):
            return Interval(median, float(result.low), float(result.high))
    if data[0] <= 0:
        return None
    interval = ratio_interval([math.log(v) for v in data], confidence)
    assert interval is not None
    # With few rounds the geometric mean need not be the median; the interval is widened to hold both.
    return Interval(median, min(interval.low, median), max(interval.high, median))


class Decision(StrEnum):
    """What an interval of a ratio says at a margin."""

    HIGHER = "higher"
    LOWER = "lower"
    WITHIN = "within the margin"
    OPEN = "open"


def decide(interval: Interval, margin: float) -> Decision:
    """Read a ratio's interval.

    Args:
        interval: of the ratio, at the confidence of the decision (`simultaneous` where there is a family).
        margin: the least effect that matters, as a share.

    Within the margin comes first: a certain difference that is certainly too small to matter is no difference. What
    is left reaches past the margin, so that an interval which excludes 1 has its middle beyond half of the margin.

    """
    if 1 / (1 + margin) <= interval.low and interval.high <= 1 + margin:
        return Decision.WITHIN
    if interval.low <= 1 <= interval.high:
        return Decision.OPEN
    return Decision.HIGHER if interval.low > 1 else Decision.LOWER


def decides(mean: float, half: float, margin: float) -> bool:
    """Whether an interval of logarithms mean ± half says faster, slower or equivalent at the margin."""
    bound = math.log1p(margin)
    within = abs(mean) + half <= bound
    return within or abs(mean) > half


def more_rounds(
    effects: Sequence[float], margin: float, confidence: float, comparisons: int = 1, most: int = 1000
) -> int | None:
    """How many further rounds would decide, if mean and spread stay as they are.

    None: no number up to `most`, or too few rounds to say.

    `comparisons` is the size of the family, for which the intervals are simultaneous.
    """
    n = len(effects)
    if n < MIN_ROUNDS:
        return None
    data = np.asarray(effects, dtype=float)
    mean, spread = abs(float(data.mean())), float(data.std(ddof=1))
    level = (1 + simultaneous(confidence, comparisons)) / 2
    total = np.arange(n + 1, n + most + 1)
    half = scipy.stats.t.ppf(level, total - 1) * spread / np.sqrt(total)
    for count, width in zip(total, half, strict=True):
        if decides(mean, float(width), margin):
            return int(count) - n
    return None
