"""How many requests had been served by each second since exec: arithmetic on the engine's series, no judgement."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from touchstone.record.engine import Point


def served_by_second(series: Sequence[Point], load_begins_s: float, within_s: float) -> list[int]:
    """Correct responses in total by the end of each whole second since exec.

    The series counts from the load's begin, `load_begins_s` after exec; within one of its intervals, answers are taken
    as spread evenly. Answers that came after the load's end are left out, since nobody asked any more.
    """
    points = [point for point in series if point.phase == "load"]
    times = [load_begins_s, *(load_begins_s + point.t for point in points)]
    totals = [0.0, *np.cumsum([point.ok for point in points], dtype=float)]
    seconds = range(1, math.floor(within_s + 1e-9) + 1)
    return [int(np.interp(second, times, totals)) for second in seconds]


def peak_figures(served: Sequence[int]) -> dict[str, float]:
    """Requests served in the first second, in the first ten, and in the whole time."""
    figures = {"peak_served": float(served[-1])} if served else {}
    for name, second in (("peak_served_1s", 1), ("peak_served_10s", 10)):
        if len(served) >= second:
            figures[name] = float(served[second - 1])
    return figures
