"""Whether an interval lies within a claim's bounds, and how many rounds would tell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from touchstone.judge.claims.ruling import Ruling
from touchstone.judge.statistics.decision import UNWIDENED, Interval, Widening
from touchstone.judge.statistics.intervals import MIN_ROUNDS, rounds_until

ONCE = {"floor": 1.25, "build": 1.5}
"""By what factor a number that was measured once must clear a bound to decide, by phase.

A floor is found by bisection under a load that varies; a build's time varies with the machine. Neither gives an
interval.
"""
_ONCE_ELSE = 2.0


def ruling_of_interval(low: float, high: float, at_least: float | None, at_most: float | None) -> Ruling:
    """Holds if the interval lies within the bounds, contradicted if outside, else undecided."""
    floor = -math.inf if at_least is None else at_least
    ceiling = math.inf if at_most is None else at_most
    if floor <= low and high <= ceiling:
        return Ruling.HOLDS
    if high < floor or low > ceiling:
        return Ruling.CONTRADICTED
    return Ruling.UNDECIDED


def allowance(value: float, phase: str) -> Interval:
    """What a number without an interval is held to be within: a factor that scatter does not reach, on either side."""
    factor = ONCE.get(phase, _ONCE_ELSE)
    low, high = sorted((value / factor, value * factor))
    return Interval(value, low, high)


def rounds_needed(
    values: Sequence[float],
    at_least: float | None,
    at_most: float | None,
    confidence: float,
    most: int = 1000,
    *,
    widening: Widening = UNWIDENED,
) -> int | None:
    """How many further rounds would decide, if middle, spread and widening stay as they are.

    None if no number up to `most`. `values` and bounds are on the scale on which they are averaged: logarithms for
    ratios and for values.
    """
    n = len(values)
    if n < MIN_ROUNDS:
        return MIN_ROUNDS - n if n else None
    return rounds_until(
        values,
        confidence,
        most,
        widening,
        lambda low, high: ruling_of_interval(low, high, at_least, at_most) is not Ruling.UNDECIDED,
    )


def log_bound(bound: float | None) -> float | None:
    """A bound on the logarithmic scale; none that is not positive can be crossed there."""
    return math.log(bound) if bound is not None and bound > 0 else None
