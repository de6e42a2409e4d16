"""Straight lines through series, and growth without end: does a series still climb when the load ends."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

LEAST_POINTS = 12
STRAIGHT = 0.95
FILLING = 1 / 3
"""The share of the requests, at the beginning, with which pools and caches fill."""


@dataclass(frozen=True)
class FittedLine:
    """A straight line through points; `low` is the lower end of the slope's 95 % interval."""

    slope: float
    intercept: float
    low: float


def theil_sen(at: Sequence[float], values: Sequence[float]) -> FittedLine:
    """The Theil-Sen line: the median slope over all point pairs. Single outliers do not move it.

    Source: Sen, "Estimates of the regression coefficient based on Kendall's tau" (1968), equation 2.6.
    """
    x, y = np.asarray(at, dtype=float), np.asarray(values, dtype=float)
    across, up = x[:, np.newaxis] - x, y[:, np.newaxis] - y
    slopes = np.sort(up[across > 0] / across[across > 0])
    slope = float(slopes[(len(slopes) - 1) // 2] + slopes[len(slopes) // 2]) / 2
    count = len(y)
    ties = sum(k * (k - 1) * (2 * k + 5) for column in (x, y) for k in Counter(column.tolist()).values())
    spread = math.sqrt((count * (count - 1) * (2 * count + 5) - ties) / 18)
    rank = round((len(slopes) + statistics.NormalDist().inv_cdf(0.025) * spread) / 2) - 1
    return FittedLine(slope, statistics.median(values) - slope * statistics.median(at), low=float(slopes[max(rank, 0)]))


def straight_slope(at: Sequence[float], values: Sequence[float]) -> float | None:
    """The slope of the line of least squares. None if it explains less than `STRAIGHT` of the variance."""
    across, both, _, up = map(float, np.cov(at, values, bias=True).flat)
    return both / across if across * up > 0 and both**2 / (across * up) >= STRAIGHT else None


@dataclass(frozen=True)
class Rise:
    """The rise from first to last point over the median. `low` is its 95 % lower bound."""

    share: float
    low: float


def rise(series: Sequence[tuple[float, float]]) -> Rise | None:
    """The Theil-Sen slope over a series of progress and values above 0. None of fewer than twelve points."""
    if len(series) < LEAST_POINTS:
        return None
    at, values = [x for x, _ in series], [y for _, y in series]
    middle, span = statistics.median(values), at[-1] - at[0]
    if middle <= 0 or span <= 0:
        return None
    line = theil_sen(at, values)
    return Rise(line.slope * span / middle, line.low * span / middle)


def leak(series: Sequence[tuple[float, float]], *, least: float) -> float | None:
    """How much each request leaves behind, if a value grows in proportion to the requests. None if it does not.

    Args:
        series: requests answered until then, and values that count something.
        least: what the value must have gained over the last two thirds of the requests; smaller gains are not a leak.

    Pools and caches fill at first, and ever more slowly: both halves of these two thirds must have gained alike, within
    three standard errors (those of counts) or a quarter.

    """
    if not series:
        return None
    begin, end = series[0][0], series[-1][0]
    later = [(x, y) for x, y in series if x >= begin + (end - begin) * FILLING]
    middle = bisect_left(later, begin + (end - begin) * (1 + FILLING) / 2, key=lambda point: point[0])
    if min(middle, len(later) - middle) < LEAST_POINTS // 2:
        return None
    answered, held = [x for x, _ in later], [y for _, y in later]
    gain = held[-1] - held[0]
    if gain <= least or any(b < a - gain * 0.1 for a, b in pairwise(held)):
        return None
    halves = [(later[0], later[middle]), (later[middle], later[-1])]
    if any(last[0] <= first[0] for first, last in halves):
        return None
    gains = [(last[1] - first[1], last[0] - first[0]) for first, last in halves]
    slopes = [gained / asked for gained, asked in gains]
    error = math.hypot(*(math.sqrt(max(1.0, gained)) / asked for gained, asked in gains))
    if abs(slopes[1] - slopes[0]) > max(3 * error, 0.25 * statistics.mean(slopes)):
        return None
    return straight_slope(answered, held)


def grows(series: Sequence[tuple[float, float]], *, least: float) -> float | None:
    """Growth per second if the series rises to its end without settling, else None.

    Args:
        series: times in seconds and values, within the load.
        least: what the value must have gained over the second half; smaller gains are not growth.

    A series that settles flattens in its last quarter; a heap that is collected falls now and then. Neither grows
    without end. The second half is looked at alone, since every server fills its caches at first.

    """
    half = list(series)[len(series) // 2 :]
    if len(half) < LEAST_POINTS:
        return None
    times, values = [t for t, _ in half], [v for _, v in half]
    gain = values[-1] - values[0]
    if gain <= least or any(b < a - gain * 0.1 for a, b in pairwise(values)):
        return None
    quarter = values[len(values) // 2]
    if values[-1] - quarter < 0.25 * gain:
        return None
    return straight_slope(times, values)
