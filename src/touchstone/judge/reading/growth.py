"""Growth of a process tree during warm-up and load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from touchstone.judge.reading.traffic import asked_connections
from touchstone.judge.statistics.trend import grows, leak
from touchstone.record.sample import Sample
from touchstone.record.watch import WatchPoint

_LOADED = ("warmup", "load")
_MOST_STEPS = 3
"""Readings farther apart than this number of intervals have a pause without load between them."""
SPARE = 16
"""Descriptors or threads that a runtime adds of its own while it is loaded: a log, a timer, a collector's helper."""

Value = Callable[[WatchPoint], int | None]


@dataclass(frozen=True)
class LeftAfterLoad:
    """What grew with every further request, or to the end of the load."""

    first: float
    last: float
    each: float
    """By how much for each request that was answered."""


def left_behind(sample: Sample, value: Value, *, room: int) -> LeftAfterLoad | None:
    """Whether descriptors or threads are left behind.

    Connections are open before the requests begin. What grows in proportion to these may gain no more than the
    connections that were reopened and `SPARE`; what grows in another way, as many as there are connections and
    `room`.
    """
    connections = asked_connections(sample)
    opened_anew = min(connections, sample.result.connections.reconnects) if sample.result else 0
    series = by_answers(sample, value)
    each = leak(series, least=opened_anew + SPARE)
    if each is None:
        if grows(under_load(sample, value), least=connections + room) is None:
            return None
        (begin, first), (end, last) = series[0], series[-1]
        each = (last - first) / max(1.0, end - begin)
    return LeftAfterLoad(series[0][1], series[-1][1], each)


def under_load(sample: Sample, value: Value) -> list[tuple[float, float]]:
    """What was seen at each look at the tree: seconds of load until then, and the value.

    In slices a contender rests while others are loaded. That time is not counted: what is left behind for each request
    grows in a straight line over the time under load, and in stairs over any other.
    """
    watch = sample.result.watch if sample.result else None
    points = _loaded(sample)
    if watch is None or not points:
        return []
    longest = _MOST_STEPS * watch.interval_s
    at, times = 0.0, [0.0]
    for before, point in pairwise(points):
        step = point.t - before.t
        at += step if step <= longest else watch.interval_s
        times.append(at)
    seen = [(t, value(point)) for t, point in zip(times, points, strict=True)]
    return [(t, float(n)) for t, n in seen if n is not None]


def by_answers(sample: Sample, value: Value) -> list[tuple[float, float]]:
    """What was seen at each look at the tree: the requests that had been answered until then, and the value."""
    times, answered = _answered(sample)
    if not times:
        return []
    seen = [(point.t, float(n)) for point in _loaded(sample) if (n := value(point)) is not None]
    until_then = np.interp([t for t, _ in seen], times, answered).tolist()
    return [(count, n) for count, (_, n) in zip(until_then, seen, strict=True)]


def _loaded(sample: Sample) -> list[WatchPoint]:
    watch = sample.result.watch if sample.result else None
    return [point for point in watch.series if point.phase in _LOADED] if watch else []


def _answered(sample: Sample) -> tuple[list[float], list[float]]:
    """Moments, and the requests that had been answered until each: the edges of slices, or of the series' intervals."""
    if sample.slices is not None:
        slices = sample.slices.slices
        counts = [0.0, *accumulate(float(one.completed) for one in slices)]
        times = [edge for one in slices for edge in (one.begin, one.end)]
        return times, [count for pair in pairwise(counts) for count in pair]
    series = sample.result.series if sample.result else []
    return [0.0, *(point.t for point in series)], [0.0, *accumulate(float(p.ok + p.errors) for p in series)]
