"""An interval of a ratio, and its decision at a margin. It is apart, since commands that only read need no numpy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

Widening = tuple[float, float]
"""By how much what was found widens an interval below and above: differences of logarithms, infinite if unbounded."""
UNWIDENED: Widening = (0.0, 0.0)


@dataclass(frozen=True)
class Interval:
    """A point estimate with its confidence interval, in the unit of the values."""

    point: float
    low: float
    high: float

    def widening_of(self, narrow: Interval) -> Widening:
        """By how much this interval of a ratio is wider than a narrow one within it."""
        below = math.log(narrow.low / self.low) if self.low > 0 else math.inf
        return below, math.log(self.high / narrow.high)


class Decision(StrEnum):
    """The decision that an interval of a ratio gives at a margin."""

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


def decides(low: float, high: float, margin: float) -> bool:
    """Whether an interval of logarithms decides at the margin."""
    bound = math.log1p(margin)
    return (-bound <= low and high <= bound) or low > 0 or high < 0
