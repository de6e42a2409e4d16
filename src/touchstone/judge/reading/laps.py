"""Ratios of neighbouring slices, in which machine noise cancels.

A lap gives each contender one slice. Within a lap the ratio of two contenders' values is taken, and a round's effect
is the trimmed mean of its laps' log ratios: a lap in which a neighbour took the CPU in the middle of one slice alone is
an outlier, and counts no more than any other. The round stays the unit of inference: luck that a process is born with
is in all laps of its round alike (Kalibera and Jones 2013).

What other processes and the host took in one slice and not in its neighbour is known, of the whole machine and of the
contender's own CPUs, and how much slower the core was (a fixed piece of work tells); and so is how a figure answers to
each: from lap to lap, within the rounds. So the ratios are taken at equal disturbance (analysis of covariance; Deng et
al. 2013, CUPED), which leaves their mean where it is and takes away scatter. Not so where one contender's slices were
disturbed more than chance explains: others may then have taken what this contender left over, or it slows its own core
down.

A far percentile of a slice is that of the service, and not of a moment, where one stall that holds up every connection
once is within it: in a closed loop, where its hundredth part is more requests than can be in flight. Elsewhere a stall
would lift the 99th percentile of the slices that it meets, and the trimmed mean of laps would leave out what is in the
round's. In an open loop a stall holds up all that comes meanwhile.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from touchstone.judge.reading.traffic import loop, slots
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
    "latency_p99": lambda one: one.latency.p99 if one.latency else None,
}
"""What a single slice knows of a figure."""
_BEYOND = {"latency_p99": 0.01}
"""The share of a slice's requests that lies beyond a far percentile."""

_MOVED = {"throughput": -1, "cpu_per_request": 1, "latency_p50": 1}
"""To which side others that take CPU time, and a slower core, move a figure. A far percentile is not moved in
proportion."""
LEAST_PAIRS = 16
"""With fewer laps over all rounds a slope is a guess, and a contender that slows its own core down looks like chance.
With this number, what slopes explain by chance costs little, and intervals hold
(`benchmarks.calibration.adjustment`)."""
EXPLAINED = 0.25
"""A slope that explains less of the laps' variance is not worth taking into account."""
_CHANCE = 3.0
"""Standard errors of the mean disturbance within which it is taken for chance."""

SLICED = tuple(_VALUES)
"""The figures of which laps can tell."""


@dataclass(frozen=True)
class LapRatio:
    """The log ratio of two neighbouring slices."""

    ratio: float
    taken: float | None
    """CPUs that others had in the contender's slice, less those that they had in the baseline's."""
    slowed: float | None = None
    """The log ratio of what the fixed piece of work took in both slices; None where that is not known."""
    left: float | None = None
    """The log ratio of the shares of its own CPUs that others left to each; None where that is not known."""


@dataclass(frozen=True)
class Adjustment:
    """The covariate adjustment: how a figure's log ratio depends on measured disturbances."""

    taken: float | None = None
    """For each CPU that others had more; None if it is not adjusted for."""
    slowed: float | None = None
    """For each log unit by which the core was slower; None likewise."""
    left: float | None = None
    """For each log unit of its own CPUs that was left to it; None likewise."""

    @property
    def for_others(self) -> bool:
        """Whether what others took is the same on both sides."""
        return self.taken is not None or self.left is not None

    def applied(self, laps: Sequence[LapRatio]) -> list[float]:
        """Return the log ratios adjusted to equal disturbances of both slices."""
        return [
            lap.ratio
            - (self.taken or 0.0) * (lap.taken or 0.0)
            - (self.slowed or 0.0) * (lap.slowed or 0.0)
            - (self.left or 0.0) * (lap.left or 0.0)
            for lap in laps
        ]


AS_THEY_ARE = Adjustment()


@dataclass(frozen=True)
class LapEffect:
    """One round's log ratio, from its laps."""

    effect: float
    variance: float
    """Variance of a single lap's log ratio."""
    laps: int


def _laps_of(contender: Sample, baseline: Sample, figure: str) -> list[LapRatio]:
    """Return the laps in which both contenders took part, in order."""
    value = _VALUES.get(figure)
    if value is None or contender.slices is None or baseline.slices is None:
        return []
    own, theirs = by_lap(contender), by_lap(baseline)
    found = []
    for lap in sorted(own.keys() & theirs.keys()):
        upper, lower = value(own[lap]) or 0.0, value(theirs[lap]) or 0.0
        if upper > 0 and lower > 0:
            had, they_had = _taken(own[lap]), _taken(theirs[lap])
            taken = None if had is None or they_had is None else had - they_had
            ratio, slowed, left = math.log(upper / lower), _slowed(own[lap], theirs[lap]), _left(own[lap], theirs[lap])
            found.append(LapRatio(ratio, taken, slowed, left))
    return found


def laps_by_round(pairs: Sequence[tuple[Sample, Sample]], figure: str) -> list[list[LapRatio]]:
    """The laps of each round, none where slices do not know the figure.

    `pairs` are the samples of contender and baseline, a pair for each round.
    """
    tell = all(_hold(samples, _BEYOND.get(figure)) for samples in zip(*pairs, strict=True))
    return [_laps_of(*pair, figure) if tell else [] for pair in pairs]


def _hold(samples: Sequence[Sample], beyond: float | None) -> bool:
    """Whether a contender's slices have more requests beyond a percentile than a stall can delay."""
    if beyond is None:
        return True
    if any(loop(sample) != "closed" for sample in samples):
        return False
    counts = [
        one.latency.count * beyond / max(1, slots(sample))
        for sample in samples
        if sample.result is not None
        for one in sample.counted_slices
        if one.latency is not None
    ]
    return bool(counts) and statistics.median(counts) >= 1


def lap_effects(pairs: Sequence[tuple[Sample, Sample]], figure: str) -> tuple[list[LapEffect], Adjustment]:
    """The effect of each round with enough laps, and the covariate adjustment that was applied.

    `pairs` are the samples of contender and baseline, a pair for each round.
    """
    rounds = laps_by_round(pairs, figure)
    found = adjustment(rounds, figure)
    return [effect_of(found.applied(laps)) for laps in rounds if len(laps) >= LEAST_LAPS], found


def adjustment(rounds: Sequence[Sequence[LapRatio]], figure: str) -> Adjustment:
    """The log ratio's slopes on CPU taken by others and on core speed, where needed.

    What others took of the whole machine counts next to what they left of the contender's own CPUs, since the engine
    has to have its part as well. The slopes are those of laps within their rounds, so that no difference between
    contenders or rounds is in them.
    What has the wrong sign is left out, and all of it where it explains too little.
    """
    side = _MOVED.get(figure)
    usable = [laps for laps in rounds if len(laps) >= LEAST_LAPS]
    if side is None or sum(map(len, usable)) < LEAST_PAIRS:
        return AS_THEY_ARE
    known = {
        "taken": [[lap.taken for lap in laps] for laps in usable],
        "slowed": [[lap.slowed for lap in laps] for laps in usable],
        "left": [[lap.left for lap in laps] for laps in usable],
    }
    sides = {"taken": side, "slowed": side, "left": -side}
    moved = {name: _within(values) for name, values in known.items() if _by_chance(values)}
    ratios = _within([[lap.ratio for lap in laps] for laps in usable])
    while moved:
        slopes, left, *_ = np.linalg.lstsq(np.column_stack([*moved.values()]), ratios)
        wrong = [name for name, slope in zip(moved, slopes, strict=True) if slope * sides[name] <= 0]
        if not wrong:
            explained = 1 - float(left.sum()) / float(ratios @ ratios)
            found = dict(zip(moved, map(float, slopes), strict=True))
            return Adjustment(**found) if explained >= EXPLAINED and len(left) else AS_THEY_ARE
        for name in wrong:
            del moved[name]
    return AS_THEY_ARE


def _by_chance(values: Sequence[Sequence[float | None]]) -> bool:
    """Whether all are known, differ, and are no more on one side than chance explains."""
    flat = [value for one in values for value in one if value is not None]
    if len(flat) < sum(map(len, values)):
        return False
    spread = float(np.std(flat, ddof=1))
    return spread > 0 and abs(float(np.mean(flat))) <= _CHANCE * spread / math.sqrt(len(flat))


def _within(values: Sequence[Sequence[float | None]]) -> np.ndarray:
    """All values, each less the mean of its round."""
    return np.concatenate([np.asarray(one, dtype=float) - np.mean(np.asarray(one, dtype=float)) for one in values])


def effect_of(ratios: Sequence[float]) -> LapEffect:
    """The effect of at least `LEAST_LAPS` log ratios of one round."""
    data = np.sort(np.asarray(ratios))
    cut = int(len(data) * TRIMMED)
    kept = data[cut : len(data) - cut]
    # The winsorised variance is that which belongs to a trimmed mean (Tukey and McLaughlin 1963).
    winsorised = np.clip(data, kept[0], kept[-1])
    variance = float(winsorised.var(ddof=1)) / (1 - 2 * TRIMMED) ** 2
    return LapEffect(float(kept.mean()), variance, len(data))


def by_lap(sample: Sample) -> dict[int, Slice]:
    """The slices that count, by lap."""
    return {one.lap: one for one in sample.counted_slices if one.lap is not None}


def _taken(one: Slice) -> float | None:
    """CPUs that other processes and the host had, on average over the slice."""
    seconds = one.end - one.begin
    return None if one.other_cpu_s is None or seconds <= 0 else (one.other_cpu_s + (one.steal_s or 0.0)) / seconds


def _slowed(own: Slice, theirs: Slice) -> float | None:
    return math.log(own.reference_s / theirs.reference_s) if own.reference_s and theirs.reference_s else None


def _left(own: Slice, theirs: Slice) -> float | None:
    return math.log(own.left_here / theirs.left_here) if own.left_here and theirs.left_here else None
