"""By how much the second half of a window differs from the first, where it is too short for changepoints."""

from __future__ import annotations

from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.pace import level_points
from touchstone.judge.reading.traffic import loop
from touchstone.record.run import Run
from touchstone.record.sample import Sample

LEAST_POINTS = 8


def drifts(group: Group, case: Case) -> dict[str, float]:
    """By sample, the rate of the second half over that of the first, less 1; those alone of which it says something."""
    short = {steady.sample for steady in case.steady_of(group) if steady.shape == "too short"}
    return {s.id: drift for s in group.samples if s.id in short and (drift := _drift(s, case.run)) is not None}


def _drift(sample: Sample, run: Run) -> float | None:
    if sample.result is None or loop(sample) != "closed":
        return None
    window = [point.ok for point in level_points(sample, run)]
    half = len(window) // 2
    if len(window) < LEAST_POINTS or not sum(window):
        return None
    return sum(window[half : 2 * half]) / max(1, sum(window[:half])) - 1
