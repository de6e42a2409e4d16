"""Contenders that differ where all should be alike, and which of them is the odd one."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Apart:
    """Two contenders that lie apart."""

    low: str
    high: str
    odd: str | None
    """Which of the two differs from most others; None where there are no most, so that both may be meant."""


def apart(values: Mapping[str, float], differ: Callable[[float, float], bool]) -> list[Apart]:
    """Each odd contender with whoever lies farthest from it, or the two extremes where none is the odd one.

    Args:
        values: by contender.
        differ: whether two values, the lower first, lie too far apart.

    Returns:
        Nothing where no two lie apart.

    """
    if not values:
        return []
    low, high = min(values, key=lambda c: values[c]), max(values, key=lambda c: values[c])
    if not differ(values[low], values[high]):
        return []
    usual = statistics.median_low(values.values())
    odd = [c for c, found in values.items() if differ(min(found, usual), max(found, usual))]
    if not 0 < len(odd) < len(values) / 2:
        return [Apart(low, high, None)]
    return [Apart(low, c, c) if values[c] - values[low] > values[high] - values[c] else Apart(c, high, c) for c in odd]


def minority(values: Mapping[str, Hashable]) -> list[str | None]:
    """Who has another value than most others: one None, which may be any of them, where there are no most.

    Nothing where all have the same.
    """
    counted = Counter(values.values())
    if len(counted) < 2:
        return []
    usual, count = counted.most_common(1)[0]
    if 2 * count <= len(values):
        return [None]
    return [contender for contender, value in values.items() if value != usual]
