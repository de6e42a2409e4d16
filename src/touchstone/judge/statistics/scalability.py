"""The universal scalability law, fitted to time in the system by number of requests there.

N. Gunther, Guerrilla Capacity Planning, Springer 2007: with N requests in the system the rate is
`X = single N / (1 + contention (N - 1) + crosstalk N (N - 1))`. By Little's law a request stays `N / X`, which is
linear in `1 / single`, `contention / single` and `crosstalk / single`: they are fitted by least squares of the relative
error, none of them below 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.judge.statistics.decision import Interval
from touchstone.judge.statistics.intervals import SEED

LEAST_LOADS = 6
"""Distinct loads that a fit needs (Gunther 2007)."""
_DISTINCT = 0.2
_LEAST_INSIDE = 0.5
"""Where fewer requests are in the system they hardly meet, and the point says nothing of how they get on."""
_NONE = 1e-9
"""A share below it is what rounding leaves of 0."""
_RESAMPLES = 400

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScalabilityLaw:
    """The law of one service. Each with its interval, by resampling the points."""

    single: Interval
    """Requests per second if each found the service empty."""
    contention: Interval
    """The share of a request's work that no two requests do at once."""
    crosstalk: Interval
    """By which share of its work a request is delayed by each pair of others."""
    error: float
    """How far the points lie from the law: the root of the mean square, as a share."""

    @property
    def ceiling(self) -> float | None:
        """The rate that the law nears, or has as its peak, in requests per second. None where it has no bound."""
        single, contention, crosstalk = self.single.point, self.contention.point, self.crosstalk.point
        if crosstalk < _NONE:
            return single / contention if contention > _NONE else None
        most = max(1.0, float(np.sqrt(max(0.0, 1 - contention) / crosstalk)))
        return float(single * most / (1 + contention * (most - 1) + crosstalk * most * (most - 1)))


def fit_law(points: Sequence[tuple[float, float]], confidence: float) -> ScalabilityLaw | None:
    """Fit the law to pairs of requests in the system and requests per second. None where too few loads are distinct."""
    points = [point for point in points if point[0] >= _LEAST_INSIDE]
    if _distinct([inside for inside, _ in points]) < LEAST_LOADS:
        return None
    from scipy.optimize import nnls  # noqa: PLC0415  # loads for longer than a run of few loads is judged

    inside, rates = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    rows = np.stack([np.ones_like(inside), inside - 1, inside * (inside - 1)], axis=1) * (rates / inside)[:, None]
    found, residual = nnls(rows, np.ones(len(rows)))
    if found[0] <= 0:
        return None
    draws = np.random.default_rng(SEED).integers(0, len(rows), (_RESAMPLES, len(rows)))
    fits = np.array([nnls(rows[draw], np.ones(len(rows)))[0] for draw in draws])
    fits = fits[fits[:, 0] > 0]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]

    def interval(values: Floats, point: float) -> Interval:
        low, high = np.quantile(values, tails)
        return Interval(float(point), min(float(point), float(low)), max(float(point), float(high)))

    return ScalabilityLaw(
        single=interval(1 / fits[:, 0], 1 / found[0]),
        contention=interval(fits[:, 1] / fits[:, 0], found[1] / found[0]),
        crosstalk=interval(fits[:, 2] / fits[:, 0], found[2] / found[0]),
        error=float(residual / np.sqrt(len(rows))),
    )


def _distinct(loads: Sequence[float]) -> int:
    count, last = 0, 0.0
    for load in sorted(loads):
        if load > last * (1 + _DISTINCT):
            count, last = count + 1, load
    return count
