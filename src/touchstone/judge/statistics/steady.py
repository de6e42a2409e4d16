"""Steady state by changepoints: does the rate of a load settle, and where.

After Barrett et al. (2017, "Virtual Machine Warmup Blows Hot and Cold"): find where the mean of the series changes,
join neighbours that differ by no more than a tolerance, and read the shape of what is left.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from touchstone.judge.judgement import SteadyState
from touchstone.record.engine import Point

Floats = NDArray[np.float64]
Shape = Literal["flat", "warm-up", "slowdown", "no steady state", "too short"]

LEAST_POINTS = 8
"""With fewer, no segment of three points differs visibly from its neighbours."""
LEAST_SECONDS = 5.0
"""A shorter window sees a collector's pause or a timer once, and would take it for a change."""
LEAST_INTERVAL_S = 0.5
"""Finer points are joined: a collector's pause of some hundred milliseconds is then one outlier and no level."""
MOST_POINTS = 240
SEGMENT = 3
LAST_SHARE = 0.3
"""The part of the window at its end that must be without a change for a state to be called steady."""


@dataclass(frozen=True)
class Segment:
    """A stretch between changes: indices [begin, end) and the mean of log performance."""

    begin: int
    end: int
    mean: float


def steady_state(
    points: Sequence[Point], *, contender: str, load: str, sample: str, margin: float, by_rate: bool
) -> SteadyState:
    """The verdict on the points of a measured window.

    Args:
        points: the window's series.
        contender: for the record.
        load: for the record.
        sample: for the record.
        margin: changes below this share are none.
        by_rate: performance is the rate of correct responses (closed loop), otherwise one over the median latency.

    """
    verdict = SteadyState(contender=contender, load=load, sample=sample, shape="too short")
    times, performance = _performance(points, by_rate)
    interval = statistics.median(np.diff(times).tolist()) if len(times) > 1 else 0.0
    if len(times) < LEAST_POINTS or interval * len(times) < LEAST_SECONDS:
        return verdict
    segments = _segments(performance, math.log1p(margin))
    start = times[0] - interval
    verdict.changepoints_s = [float(times[s.begin] - interval) for s in segments[1:]]
    verdict.levels = [math.exp(s.mean - segments[-1].mean) for s in segments]
    verdict.shape = _shape(segments, len(performance))
    if verdict.shape != "no steady state":
        verdict.steady_from_s = verdict.changepoints_s[-1] if verdict.changepoints_s else float(start)
    return verdict


def _performance(points: Sequence[Point], by_rate: bool) -> tuple[Floats, Floats]:
    """Times and log performance, thinned so that the search stays below a few milliseconds."""
    values = [(p.t, float(p.ok) if by_rate else 1.0 / p.p50 if p.p50 else 0.0) for p in points]
    interval = (values[-1][0] - values[0][0]) / (len(values) - 1) if len(values) > 1 else LEAST_INTERVAL_S
    width = max(1, math.ceil(len(values) / MOST_POINTS), math.ceil(LEAST_INTERVAL_S / max(interval, 1e-6) - 0.01))
    whole = values[: len(values) // width * width]
    bins = np.asarray(whole, dtype=float).reshape(-1, width, 2)
    times: Floats = bins[:, -1, 0]
    means: Floats = bins[:, :, 1].mean(axis=1)
    # On a logarithmic scale a standstill would outweigh all else; below a quarter of the usual, less is no different.
    floor = max(statistics.median(means.tolist()) * 0.25 if len(means) else 0.0, 1e-12)
    logs: Floats = np.log(np.maximum(means, floor))
    return times, logs


def _segments(performance: Floats, tolerance: float) -> list[Segment]:
    """Stretches whose means differ by more than the tolerance and more than noise explains."""
    # The median of three takes away single outliers (a collector's pause), which are not a change of state.
    padded = np.concatenate([performance[:1], performance, performance[-1:]])
    smooth: Floats = np.sort([padded[:-2], padded[1:-1], padded[2:]], axis=0)[1]
    n = len(smooth)
    steps = np.abs(np.diff(performance))
    noise = statistics.median(steps.tolist()) / 0.954 if len(steps) else 0.0
    # The median overlooks pauses that come again and again; half of the steps' own scatter does not.
    noise = max(noise, tolerance / 10, 0.5 * float(np.std(steps)) if len(steps) else 0.0)
    # The penalty of a changepoint is that of the Schwarz criterion, doubled since the filter correlates neighbours.
    penalty = 2 * 2 * noise**2 * math.log(n)
    edges = [0, *level_ends(smooth, penalty, SEGMENT)]
    segments = [Segment(a, b, float(smooth[a:b].mean())) for a, b in itertools.pairwise(edges)]
    while len(segments) > 1:
        gaps = [abs(a.mean - b.mean) for a, b in itertools.pairwise(segments)]
        needed = [
            max(tolerance, 3 * noise * math.sqrt(1 / (a.end - a.begin) + 1 / (b.end - b.begin)))
            for a, b in itertools.pairwise(segments)
        ]
        weakest = min(range(len(gaps)), key=lambda i: gaps[i] / needed[i])
        if gaps[weakest] >= needed[weakest]:
            break
        a, b = segments[weakest], segments[weakest + 1]
        segments[weakest : weakest + 2] = [Segment(a.begin, b.end, float(smooth[a.begin : b.end].mean()))]
    return segments


def level_ends(values: Floats, penalty: float, least: int) -> list[int]:
    """Where stretches of one level end, the last one included: the split with the least squared error and penalties.

    Args:
        values: the series.
        penalty: the price of each change.
        least: the number of values in a stretch.

    Source: Jackson et al., "An algorithm for optimal partitioning of data on an interval" (2005).

    """
    data = values - values.mean()
    sums, squares = (np.concatenate([[0.0], np.cumsum(part)]) for part in (data, data**2))
    count = len(data)
    cost = np.full(count + 1, math.inf)
    cost[0] = -penalty
    begins = np.zeros(count + 1, dtype=int)
    for end in range(least, count + 1):
        begin = np.arange(0, end - least + 1)
        error = squares[end] - squares[begin] - (sums[end] - sums[begin]) ** 2 / (end - begin)
        total = cost[begin] + error + penalty
        best = int(np.argmin(total))
        cost[end], begins[end] = total[best], best
    ends, end = [], count
    while end > 0:
        ends.append(end)
        end = int(begins[end])
    return ends[::-1]


def _shape(segments: list[Segment], n: int) -> Shape:
    if len(segments) == 1:
        return "flat"
    last = segments[-1]
    if last.end - last.begin < LAST_SHARE * n:
        return "no steady state"
    if all(s.mean < last.mean for s in segments[:-1]):
        return "warm-up"
    if all(s.mean > last.mean for s in segments[:-1]):
        return "slowdown"
    # It went both ways before it settled; what counts for the window is how most of that time compares.
    before = sum((s.end - s.begin) * s.mean for s in segments[:-1]) / last.begin
    return "warm-up" if before < last.mean else "slowdown"
