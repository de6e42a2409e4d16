"""The search for a knee under noise: which rate is tried next, and what is known of the knee so far.

A single trial near the knee holds or fails by luck, so a plain bisection, which never comes back to a step, ends where
the luck led it. Here every trial moves a posterior over the knee and over how gradually chance gives way to certainty
around it, and the next rate is the one whose outcome tells most of the knee: far from it that is a bisection, at the
edge it is the same rate again and again. This is the psi method of psychophysics (Kontsevich and Tyler 1999), with the
slope as a nuisance (Prins 2013) and lapses for trials that something else decided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

_STEP = 0.0025
"""The grid's step in the logarithm of the rate: far below the wanted precision."""
_SLOPES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.12)
"""Over which share of the rate a trial's chance to hold falls from five in six to a half."""
_LAPSE = 0.03
"""The share of trials that the machine decides, and not the rate."""
_CANDIDATES = 31
CONFIDENCE = 0.95


@dataclass(frozen=True)
class KneeEstimate:
    """What is known of the knee: requests per second, with the interval that holds it with `CONFIDENCE`."""

    rate: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """The upper bound over the lower, less 1."""
        return self.high / self.low - 1


class KneeSearch:
    """The posterior over the knee between two rates, both in requests per second."""

    def __init__(self, lowest: float, highest: float) -> None:
        if not 0 < lowest < highest:
            raise ValueError(f"there is no rate to search between {lowest} and {highest}")
        self.highest = highest
        self._grid: Floats = np.arange(math.log(lowest), math.log(highest) + _STEP, _STEP)
        self._slopes = np.array(_SLOPES)
        self._posterior: Floats = np.full((len(self._grid), len(_SLOPES)), 1.0 / (len(self._grid) * len(_SLOPES)))
        self.ceiling = math.inf
        """No rate from here on is tried again: the server died there, or the generator could not offer it."""

    def learn(self, rate: float, *, held: bool) -> None:
        """Take a trial's outcome."""
        chance = self._chance(np.array([math.log(rate)]))[0]
        self._posterior *= chance if held else 1 - chance
        self._posterior /= self._posterior.sum()

    def next_rate(self) -> float:
        """The rate whose outcome tells most of the knee."""
        marginal = self._posterior.sum(axis=1)
        cumulated = np.cumsum(marginal)
        places = np.searchsorted(cumulated, np.linspace(0.02, 0.98, _CANDIDATES))
        candidates = np.unique(self._grid[np.minimum(places, len(self._grid) - 1)])
        allowed = candidates[candidates < math.log(self.ceiling)] if math.isfinite(self.ceiling) else candidates
        if len(allowed) == 0:
            return self.ceiling * (1 - _STEP)
        hold = self._chance(allowed) * self._posterior
        both = np.stack([hold.sum(axis=2), marginal - hold.sum(axis=2)])
        shares = both.sum(axis=2, keepdims=True)
        expected = (shares[:, :, 0] * _entropy(both / shares)).sum(axis=0)
        return math.exp(float(allowed[int(np.argmin(expected))]))

    def known(self) -> KneeEstimate:
        """The knee's median and interval."""
        cumulated = np.cumsum(self._posterior.sum(axis=1))
        tail = (1 - CONFIDENCE) / 2
        low, middle, high = (
            math.exp(self._grid[min(len(self._grid) - 1, int(np.searchsorted(cumulated, share)))])
            for share in (tail, 0.5, 1 - tail)
        )
        return KneeEstimate(middle, low, high)

    def above(self, rate: float) -> float:
        """The probability that the knee lies above a rate."""
        return float(self._posterior.sum(axis=1)[self._grid >= math.log(rate)].sum())

    def _chance(self, rates: Floats) -> Floats:
        """The chance that a trial holds: by rate (a logarithm), knee and slope."""
        distance = (self._grid[None, :, None] - rates[:, None, None]) / self._slopes[None, None, :]
        chance: Floats = _LAPSE + (1 - 2 * _LAPSE) * ndtr(distance)
        return chance


def _entropy(shares: Floats) -> Floats:
    """Along the last axis."""
    entropy: Floats = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=-1)
    return entropy
