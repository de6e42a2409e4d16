"""Estimates how a contender's rate depends on the speed of its core."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from touchstone.judge.reading.laps import EXPLAINED, LEAST_PAIRS
from touchstone.record.run import Run
from touchstone.record.sample import Sample

Slopes = Mapping[tuple[str, str | None, str], float]
"""By phase, load and contender; of those alone whose rate answers to the core."""
_LEAST_LAPS = 2
_TREND = 3.0
"""Standard errors of its slope over the laps above which a core does not get slower by chance: a contender that does
more and more may slow its own core down."""


@dataclass(frozen=True)
class CoreLap:
    """A slice whose rate and whose core are known."""

    lap: int
    rate: float
    """Its logarithm."""
    work: float
    """The logarithm of what the work of reference took."""


def core_laps(sample: Sample) -> list[CoreLap]:
    """The slices that count, of those that know it."""
    slices = sample.slices.slices if sample.slices else []
    return [
        CoreLap(one.lap, math.log(one.rate), math.log(one.reference_s))
        for one in slices
        if one.lap is not None and one.rate and one.reference_s
    ]


def core_slopes(run: Run) -> Slopes:
    """Return how much each contender's rate falls on a slower core."""
    groups: dict[tuple[str, str | None, str], list[Sample]] = defaultdict(list)
    for sample in run.samples:
        if sample.slices is not None:
            groups[sample.phase, sample.load, sample.contender].append(sample)
    return {alike: slope for alike, samples in groups.items() if (slope := _core_slope(samples)) is not None}


def _core_slope(samples: Sequence[Sample]) -> float | None:
    """The slope of a contender's log rate over the reference work's log time, below 0.

    From the laps of all rounds within their rounds. None where that explains too little, or where the core gets slower
    from lap to lap, which may be the contender's own doing.
    """
    rounds = [laps for sample in samples if len(laps := core_laps(sample)) >= _LEAST_LAPS]
    if sum(map(len, rounds)) < LEAST_PAIRS:
        return None
    rates = _within(rounds, lambda one: one.rate)
    work = _within(rounds, lambda one: one.work)
    square = float(work @ work)
    slope = float(work @ rates) / max(square, 1e-12)
    explained = slope**2 * square / max(float(rates @ rates), 1e-12)
    if slope >= 0 or explained < EXPLAINED or _has_trend(_within(rounds, lambda one: one.lap), work):
        return None
    return slope


def _within(rounds: Sequence[Sequence[CoreLap]], read: Callable[[CoreLap], float]) -> np.ndarray:
    """A value of all laps, each less the mean of its round."""
    columns = [np.asarray([read(one) for one in laps], dtype=float) for laps in rounds]
    return np.concatenate([column - float(column.mean()) for column in columns])


def _has_trend(laps: np.ndarray, work: np.ndarray) -> bool:
    """Whether the work of reference takes longer and longer, beyond what chance explains."""
    square = max(float(laps @ laps), 1e-12)
    slope = float(laps @ work) / square
    left = work - slope * laps
    return slope > _TREND * math.sqrt(float(left @ left) / (len(laps) - 1) / square)
