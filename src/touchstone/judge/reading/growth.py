"""How a process tree grew while it was loaded, warm-up included."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from touchstone.record.sample import Sample
from touchstone.record.watch import WatchPoint

_LOADED = ("warmup", "load")
_MOST_STEPS = 3
"""Looks that lie farther apart than so many intervals had a rest between them, in which nothing was asked."""


def under_load(sample: Sample, value: Callable[[WatchPoint], int | None]) -> list[tuple[float, float]]:
    """What was seen at each look at the tree: seconds of load until then, and the value.

    In slices a contender rests while others are loaded. That time is not counted: what is left behind for each request
    grows in a straight line over the time under load, and in stairs over any other.
    """
    watch = sample.result.watch if sample.result else None
    points = [p for p in watch.series if p.phase in _LOADED] if watch else []
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
