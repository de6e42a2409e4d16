"""How fast the machine was in each lap: what falls on all contenders alike is not a change of one of them, nor is what
a slower core does to it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping

from touchstone.judge.reading.core import Slopes, core_laps
from touchstone.judge.reading.neighbours import neighbours
from touchstone.judge.reading.traffic import loop, measured_points
from touchstone.record.engine import Point
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

_ENOUGH = 3
"""Number of others whose median is the machine's pace; with fewer, a changing neighbour would look like the machine."""

_LEAST_LAPS = 2
"""A slope needs two different paces."""


def pace_of(sample: Sample, run: Run, slopes: Slopes) -> dict[int, float]:
    """By lap, the speed of the machine while a sample was measured, over its usual speed.

    It is that of the contender in the middle of all others, the null server among them; of the null server alone where
    there are fewer than three. It counts as far as the sample follows it (the slope of a regression, from 0
    to 1), since a neighbour that was disturbed in its own slice alone says nothing of this one. What each loses on a
    slower core, by the fixed piece of work that is timed there, is taken off before, and is a part of the sample's own.
    Empty where nothing was sliced, or nobody else was measured.
    """
    around = neighbours(sample, run)
    cores = {one.id: _core(one, slopes) for one in (sample, *around)}
    others = [(other.contender, speeds) for other in around if (speeds := _speeds(other, cores[other.id]))]
    if len(others) < _ENOUGH:
        others = [(name, speeds) for name, speeds in others if name == TARE]
    laps = {lap for _, speeds in others for lap in speeds}
    found = {lap: [speeds[lap] for _, speeds in others if lap in speeds] for lap in sorted(laps)}
    pace = {lap: statistics.median(speeds) for lap, speeds in found.items()}
    core = cores[sample.id]
    share = _share(_speeds(sample, core), pace)
    return {lap: math.exp(share * speed + core.get(lap, 0.0)) for lap, speed in pace.items()}


def _core(sample: Sample, slopes: Slopes) -> dict[int, float]:
    """By lap, the log of a contender's speed on a core slower or faster than usual."""
    slope = slopes.get((sample.phase, sample.load, sample.contender))
    if slope is None or not (own := core_laps(sample)):
        return {}
    usual = statistics.median(one.work for one in own)
    return {one.lap: slope * (one.work - usual) for one in own}


def _share(own: Mapping[int, float], pace: Mapping[int, float]) -> float:
    """How much of the pace a contender went along with, from 0 to 1."""
    both = sorted(own.keys() & pace.keys())
    if len({pace[lap] for lap in both}) < _LEAST_LAPS:
        return 1.0
    slope = statistics.linear_regression([pace[lap] for lap in both], [own[lap] for lap in both]).slope
    return min(1.0, max(0.0, slope))


def level_points(sample: Sample, run: Run, slopes: Slopes) -> list[Point]:
    """The series within the measured window, as it would be on a machine of one speed.

    Where a closed loop was sliced, the responses of each slice are divided by the machine's pace in its lap.
    """
    points = measured_points(sample.result) if sample.result else []
    pace = pace_of(sample, run, slopes) if loop(sample) == "closed" else {}
    if sample.slices is None or not pace:
        return points
    laps = {one.end: one.lap for one in sample.slices.slices if one.lap is not None}
    return [_level(point, laps, pace) for point in points]


def _level(point: Point, laps: Mapping[float, int], pace: Mapping[int, float]) -> Point:
    speed = pace.get(laps.get(point.t, -1), 1.0)
    return point.model_copy(update={"ok": round(point.ok / speed)})


def _speeds(sample: Sample, core: Mapping[int, float]) -> dict[int, float]:
    """By lap, the log of a contender's core-adjusted rate over its usual one."""
    slices = sample.slices.slices if sample.slices else []
    rates = {one.lap: math.log(one.rate) - core.get(one.lap, 0.0) for one in slices if one.lap is not None and one.rate}
    usual = statistics.median(rates.values()) if rates else 0.0
    return {lap: rate - usual for lap, rate in rates.items()}
