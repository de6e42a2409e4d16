"""Contenders that differ where all should be alike, and which of them is the odd one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import SupportsFloat, TypeVar

Value = TypeVar("Value", bound=SupportsFloat)


@dataclass(frozen=True)
class UnequalPair:
    """Two contenders that lie apart."""

    low: str
    high: str
    odd: str | None
    """Which of the two differs from most others; None where there are no most, so that both may be meant."""


def unequal_pairs(values: Mapping[str, Value], differ: Callable[[Value, Value], bool]) -> list[UnequalPair]:
    """Each odd contender paired with a typical one, or the two extremes if none is odd.

    Args:
        values: by contender; ordered by the number that each is.
        differ: whether two values, the lower first, lie too far apart.

    Returns:
        Nothing where no two lie apart.

    """
    if not values:
        return []
    order = sorted(values, key=lambda contender: float(values[contender]))
    place = (len(order) - 1) // 2
    usual = order[place]
    below = [c for c in order[:place] if differ(values[c], values[usual])]
    above = [c for c in order[place + 1 :] if differ(values[usual], values[c])]
    if 0 < len(below) + len(above) < len(order) / 2:
        return [UnequalPair(c, usual, c) for c in below] + [UnequalPair(usual, c, c) for c in above]
    low, high = order[0], order[-1]
    return [UnequalPair(low, high, None)] if differ(values[low], values[high]) else []


def minority(values: Mapping[str, Hashable]) -> list[str | None]:
    """Contenders whose value differs from that of most others; None alone without a majority.

    Nothing where all have the same.
    """
    counted = Counter(values.values())
    if len(counted) < 2:
        return []
    usual, count = counted.most_common(1)[0]
    if 2 * count <= len(values):
        return [None]
    return [contender for contender, value in values.items() if value != usual]
