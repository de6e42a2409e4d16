"""Ratios of neighbouring slices: what the machine does meanwhile falls on both, and cancels.

A lap gives each contender one slice. Within a lap the ratio of two contenders' values is taken, and a round's effect
is the trimmed mean of its laps' log ratios: a lap in which a neighbour took the CPU in the middle of one slice alone is
an outlier, and counts no more than any other. The round stays the unit of inference: luck that a process is born with
is in all laps of its round alike (Kalibera and Jones 2013).

What other processes and the host took in one slice and not in its neighbour is known, and so is how a rate answers to
it: from lap to lap, within the rounds. So the ratios are taken at equal disturbance (analysis of covariance; Deng et
al. 2013, CUPED), which leaves their mean where it is and takes away scatter. Not so where one contender's slices were
disturbed more than chance explains: others may then have taken what this contender left over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from touchstone.record.evidence.slices import Slice
from touchstone.record.sample import Sample

TRIMMED = 0.2
"""The share of laps that is left out at either end."""
LEAST_LAPS = 4
"""With fewer laps a round's effect is taken from the figures of the whole round."""


def _cpu(one: Slice) -> float | None:
    return None if one.server_cpu_s is None or not one.completed else one.server_cpu_s / one.completed


_VALUES: Mapping[str, Callable[[Slice], float | None]] = {
    "throughput": lambda one: one.rate,
    "cpu_per_request": _cpu,
    "latency_p50": lambda one: one.latency.p50 if one.latency else None,
}
"""What a single slice knows of a figure. Far percentiles need more requests than a slice has."""

_MOVED = {"throughput": -1, "latency_p50": 1}
"""Figures that CPU time which others take moves, and to which side."""
LEAST_PAIRS = 24
"""With fewer laps over all rounds a slope is a guess."""
_EXPLAINED = 0.25
"""A slope that explains less of the laps' variance is not worth taking into account."""
_CHANCE = 3.0
"""Standard errors of the mean disturbance within which it is taken for chance."""

SLICED = tuple(_VALUES)
"""The figures of which laps tell."""


@dataclass(frozen=True)
class Lap:
    """The log ratio of two neighbouring slices."""

    ratio: float
    taken: float | None
    """CPUs that others had in the contender's slice, less those that they had in the baseline's."""


@dataclass(frozen=True)
class LapEffect:
    """One round's log ratio, from its laps."""

    effect: float
    variance: float
    """Of a single lap's log ratio."""
    laps: int


def laps_of(contender: Sample, baseline: Sample, figure: str) -> list[Lap]:
    """The laps that both have, in their order; none where slices do not know the figure."""
    value = _VALUES.get(figure)
    if value is None or contender.slices is None or baseline.slices is None:
        return []
    own, theirs = _by_lap(contender), _by_lap(baseline)
    found = []
    for lap in sorted(own.keys() & theirs.keys()):
        upper, lower = value(own[lap]) or 0.0, value(theirs[lap]) or 0.0
        if upper > 0 and lower > 0:
            had, they_had = _taken(own[lap]), _taken(theirs[lap])
            taken = None if had is None or they_had is None else had - they_had
            found.append(Lap(math.log(upper / lower), taken))
    return found


def lap_effects(pairs: Sequence[tuple[Sample, Sample]], figure: str) -> tuple[list[LapEffect], float | None]:
    """The effect of each round that has enough laps, and the slope of `adjustment` that it was taken with.

    `pairs` are the samples of contender and baseline, a pair for each round.
    """
    rounds = [laps_of(*pair, figure) for pair in pairs]
    slope = adjustment(rounds, figure)
    return [effect_of(adjusted(laps, slope)) for laps in rounds if len(laps) >= LEAST_LAPS], slope


def adjustment(rounds: Sequence[Sequence[Lap]], figure: str) -> float | None:
    """By how much the log ratio moves for each CPU that others had more; None where it is not to be adjusted for.

    The slope is that of laps within their rounds, so that no difference between contenders or rounds is in it.
    """
    side = _MOVED.get(figure)
    usable = [laps for laps in rounds if len(laps) >= LEAST_LAPS]
    taken = [[lap.taken for lap in laps if lap.taken is not None] for laps in usable]
    if side is None or sum(map(len, taken)) < LEAST_PAIRS or sum(map(len, taken)) < sum(map(len, usable)):
        return None
    x = np.concatenate([np.asarray(one) - np.mean(one) for one in taken])
    ratios = [np.asarray([lap.ratio for lap in laps]) for laps in usable]
    y = np.concatenate([one - one.mean() for one in ratios])
    moved, scatter = float(x @ x), float(y @ y)
    if not moved or not scatter:
        return None
    slope = float(x @ y) / moved
    all_taken = np.concatenate(taken)
    chance = _CHANCE * float(all_taken.std(ddof=1)) / math.sqrt(len(all_taken))
    if slope * side <= 0 or slope * slope * moved < _EXPLAINED * scatter or abs(float(all_taken.mean())) > chance:
        return None
    return slope


def adjusted(laps: Sequence[Lap], slope: float | None) -> list[float]:
    """The log ratios as they would be had others taken the same in both slices."""
    return [lap.ratio if slope is None or lap.taken is None else lap.ratio - slope * lap.taken for lap in laps]


def effect_of(ratios: Sequence[float]) -> LapEffect:
    """The effect of at least `LEAST_LAPS` log ratios of one round."""
    data = np.sort(np.asarray(ratios))
    cut = int(len(data) * TRIMMED)
    kept = data[cut : len(data) - cut]
    # The winsorised variance is that which belongs to a trimmed mean (Tukey and McLaughlin 1963).
    winsorised = np.clip(data, kept[0], kept[-1])
    variance = float(winsorised.var(ddof=1)) / (1 - 2 * TRIMMED) ** 2
    return LapEffect(float(kept.mean()), variance, len(data))


def _by_lap(sample: Sample) -> dict[int, Slice]:
    return {one.lap: one for one in sample.slices.slices if one.lap is not None} if sample.slices else {}


def _taken(one: Slice) -> float | None:
    """CPUs that other processes and the host had, on average over the slice."""
    seconds = one.end - one.begin
    return None if one.other_cpu_s is None or seconds <= 0 else (one.other_cpu_s + (one.steal_s or 0.0)) / seconds
