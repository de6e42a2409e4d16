"""Growth without end: does a series still climb when the load ends, by more than it may."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import scipy

LEAST_POINTS = 12
STRAIGHT = 0.95


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
