"""Student's t, the binomial distribution and Kendall's tau: loading scipy for them takes as long as judging a run.

Tests hold each function against its namesake in scipy.stats.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, combinations

_MOST_STEPS = 500
_TINY = 1e-300
_MOST_EXACT = 33
"""Values of a series whose orders are counted; the normal distribution is close for more."""


@lru_cache(maxsize=4096)
def t_quantile(p: float, freedom: float) -> float:
    """The value that Student's t stays below with probability `p`, at least one half. By Newton's method."""
    if p == 0.5:
        return 0.0
    tail, low, high = 1 - p, 0.0, 1.0
    while t_above(high, freedom) > tail:
        low, high = high, 2 * high
    found, scale = (low + high) / 2, math.exp(_log_coefficient(freedom / 2)) / math.sqrt(freedom)
    for _ in range(_MOST_STEPS):
        beyond = t_above(found, freedom) - tail
        low, high = (found, high) if beyond > 0 else (low, found)
        density = scale * math.exp(-(freedom + 1) / 2 * math.log1p(found * found / freedom))
        step = found + beyond / density if density > _TINY else math.inf
        step = step if low < step < high else (low + high) / 2
        if abs(step - found) <= 1e-15 * found:
            break
        found = step
    return found


def t_above(t: float, freedom: float) -> float:
    """The probability that Student's t is more than `t`, which is not negative: an incomplete beta function.

    Source: DLMF 8.17.22 for its continued fraction, summed as Lentz (1976) does.
    """
    if t == 0:
        return 0.5
    half, square = freedom / 2, t * t / freedom
    front = math.exp(_log_coefficient(half) - half * math.log1p(square) + 0.5 * math.log(square / (1 + square)))
    if 1 / (1 + square) < (half + 1) / (half + 2.5):
        return front * _fraction(1 / (1 + square), half, 0.5) / half / 2
    return 0.5 - front * _fraction(square / (1 + square), 0.5, half)


def at_most(hits: int, trials: int, chance: float) -> float:
    """The binomial probability of at most `hits`, given the chance of one."""
    return min(1.0, math.fsum(_exactly(n, trials, chance) for n in range(min(hits, trials) + 1)))


def at_least(hits: int, trials: int, chance: float) -> float:
    """The binomial probability of at least `hits`, given the chance of one."""
    return min(1.0, math.fsum(_exactly(n, trials, chance) for n in range(max(0, hits), trials + 1)))


def greatest_chance(hits: int, trials: int, confidence: float) -> float:
    """The greatest chance of a hit that this number of hits does not refute: a one-sided bound (Clopper-Pearson 1934).

    1 without a trial. With no hit in n trials it is 1 - (1 - confidence)^(1/n): 1 % at 95 % after 299 trials.
    """
    if hits >= trials:
        return 1.0
    low, high = hits / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(hits, trials, middle) > 1 - confidence else (low, middle)
    return high


def median_ranks(count: int, confidence: float) -> tuple[int, int] | None:
    """The ranks, from 0, of the ordered values between which the median lies. None for too few values.

    The sign test turned round (Conover 1999, section 3.2): free of any distribution, at least the confidence asked.
    """
    tail = (1 - confidence) / 2
    below = accumulate(_exactly(n, count, 0.5) for n in range(count + 1))
    low = next(rank for rank, chance in enumerate(below) if chance >= tail)
    return (low - 1, count - low) if low >= 1 else None


def order_chance(values: Sequence[float]) -> float:
    """The chance that random order gives values as ordered as these (Kendall's tau).

    Two-sided; 1 for fewer than two different values. Exact for up to 33 values that all differ: the orders with each
    number of pairs out of order are counted. Otherwise by the normal distribution, with its variance corrected for
    ties. Source: Kendall, Rank Correlation Methods (1970).
    """
    count, ties = len(values), [ties for ties in Counter(values).values() if ties > 1]
    score = sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))
    if not ties and count <= _MOST_EXACT:
        pairs = count * (count - 1) // 2
        orders = [1]
        for items in range(2, count + 1):
            sums = [0, *accumulate(orders + [0] * (items - 1))]
            orders = [sums[place + 1] - sums[max(0, place + 1 - items)] for place in range(len(sums) - 1)]
        return min(1.0, 2 * sum(orders[: (pairs - abs(score)) // 2 + 1]) / math.factorial(count))
    variance = sum(k * (k - 1) * (2 * k + 5) * sign for k, sign in [(count, 1), *((k, -1) for k in ties)]) / 18
    return 2 * statistics.NormalDist().cdf(-abs(score) / math.sqrt(variance)) if variance > 0 else 1.0


def _exactly(hits: int, trials: int, chance: float) -> float:
    if chance in (0.0, 1.0):
        return float(hits == trials * chance)
    log_ways = math.lgamma(trials + 1) - math.lgamma(hits + 1) - math.lgamma(trials - hits + 1)
    return math.exp(log_ways + hits * math.log(chance) + (trials - hits) * math.log1p(-chance))


def _log_coefficient(half: float) -> float:
    """The logarithm of gamma(half + 1/2) / (gamma(half) gamma(1/2)); if large, by its series (DLMF 5.11.13)."""
    if half < 20:
        ratio = math.lgamma(half + 0.5) - math.lgamma(half)
    else:
        square = half * half
        ratio = 0.5 * math.log(half) - (1 / 8 - (1 / 192 - (1 / 640 - 17 / 14336 / square) / square) / square) / half
    return ratio - 0.5 * math.log(math.pi)


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _kept(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1 / _kept(1 + term * d), _kept(1 + term / c)
            value *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return value


def _kept(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
