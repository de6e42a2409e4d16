"""Ratios of neighbouring slices: what the machine does meanwhile falls on both, and cancels.

A lap gives each contender one slice. Within a lap the ratio of two contenders' values is taken, and a round's effect
is the trimmed mean of its laps' log ratios: a lap in which a neighbour took the CPU in the middle of one slice alone is
an outlier, and counts no more than any other. The round stays the unit of inference: luck that a process is born with
is in all laps of its round alike (Kalibera and Jones 2013).
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

SLICED = tuple(_VALUES)
"""The figures of which laps tell."""


@dataclass(frozen=True)
class LapEffect:
    """One round's log ratio, from its laps."""

    effect: float
    variance: float
    """Of a single lap's log ratio."""
    laps: int


def lap_ratios(contender: Sample, baseline: Sample, figure: str) -> list[float]:
    """The log ratio in each lap that both have, in the order of laps; none where slices do not know the figure."""
    value = _VALUES.get(figure)
    if value is None or contender.slices is None or baseline.slices is None:
        return []
    theirs = _by_lap(baseline, value)
    return [
        math.log(own / theirs[lap])
        for lap, own in sorted(_by_lap(contender, value).items())
        if own > 0 and theirs.get(lap, 0.0) > 0
    ]


def lap_effect(contender: Sample, baseline: Sample, figure: str) -> LapEffect | None:
    """A round's effect from its laps; None where there are too few."""
    ratios = lap_ratios(contender, baseline, figure)
    return None if len(ratios) < LEAST_LAPS else effect_of(ratios)


def effect_of(ratios: Sequence[float]) -> LapEffect:
    """The effect of at least `LEAST_LAPS` log ratios of one round."""
    data = np.sort(np.asarray(ratios))
    cut = int(len(data) * TRIMMED)
    kept = data[cut : len(data) - cut]
    # The winsorised variance is that which belongs to a trimmed mean (Tukey and McLaughlin 1963).
    winsorised = np.clip(data, kept[0], kept[-1])
    variance = float(winsorised.var(ddof=1)) / (1 - 2 * TRIMMED) ** 2
    return LapEffect(float(kept.mean()), variance, len(data))


def _by_lap(sample: Sample, value: Callable[[Slice], float | None]) -> dict[int, float]:
    assert sample.slices is not None
    found = {}
    for one in sample.slices.slices:
        if one.lap is not None and (seen := value(one)) is not None:
            found[one.lap] = seen
    return found
