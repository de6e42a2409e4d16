"""Growth without end: does a series still climb when the load ends, by more than it may."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import scipy

LEAST_POINTS = 12
STRAIGHT = 0.95


@dataclass(frozen=True)
class Rise:
    """By how much a value rose from the first point to the last, as a share of its median; `low` is the 95 % bound."""

    share: float
    low: float


def rise(series: Sequence[tuple[float, float]]) -> Rise | None:
    """The Theil-Sen slope over the series, which single outliers do not move; None of fewer than twelve points.

    Args:
        series: any measure of progress, and values above 0.

    Source: Sen, "Estimates of the regression coefficient based on Kendall's tau" (1968).

    """
    if len(series) < LEAST_POINTS:
        return None
    at, values = [x for x, _ in series], [y for _, y in series]
    middle, span = statistics.median(values), at[-1] - at[0]
    if middle <= 0 or span <= 0:
        return None
    slope, _, low, _ = scipy.stats.theilslopes(values, at)
    return Rise(float(slope) * span / middle, float(low) * span / middle)


def grows(series: Sequence[tuple[float, float]], *, least: float) -> float | None:
    """Growth a second if the series climbs to its end without settling, None if it does not.

    Args:
        series: times in seconds and values, within the load.
        least: what the value must have gained over the second half; smaller gains are no growth.

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
    line = scipy.stats.linregress(times, values)
    return float(line.slope) if line.rvalue**2 >= STRAIGHT else None
