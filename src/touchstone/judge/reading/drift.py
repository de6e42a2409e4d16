"""How the second half of a window differs from the first, if too short for changepoints."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.pace import level_points
from touchstone.judge.reading.traffic import loop
from touchstone.record.sample import Sample

LEAST_POINTS = 8
# Why these: `threshold_reason` of the rules `still-rising` and `still-falling`.
ROUNDS = 3
MOST_ROUNDS = 2 / 3
ROUND = 0.10
MIDDLE = 0.15


@dataclass(frozen=True)
class HalfTrend:
    """Window halves that differ the same way in most rounds, and enough in the median."""

    by_sample: dict[str, float]
    """By sample, the share by which its halves differ."""
    rounds: int
    """In how many of them they differ that way."""

    @property
    def middle(self) -> float:
        """The share by which the halves of the middle one differ."""
        return median(self.by_sample.values())


def drift(group: SampleGroup, case: Case, *, falling: bool = False) -> HalfTrend | None:
    """How much faster the second half was, or with `falling` how much slower. None unless that is the trend."""
    return _trend({sample: -by if falling else by for sample, by in _drifts(group, case).items()})


def _trend(moves: dict[str, float]) -> HalfTrend | None:
    trend = HalfTrend(moves, sum(move > ROUND for move in moves.values()))
    most = len(moves) >= ROUNDS and trend.rounds >= len(moves) * MOST_ROUNDS
    return trend if most and trend.middle > MIDDLE else None


def _drifts(group: SampleGroup, case: Case) -> dict[str, float]:
    """By sample, the second half's rate over the first half's, less 1. Indecisive samples are left out."""
    short = {steady.sample for steady in case.steady_of(group) if steady.shape == "too short"}
    return {s.id: drift for s in group.samples if s.id in short and (drift := _drift(s, case)) is not None}


def _drift(sample: Sample, case: Case) -> float | None:
    if sample.result is None or loop(sample) != "closed":
        return None
    window = [point.ok for point in level_points(sample, case.run, case.core_slopes)]
    half = len(window) // 2
    if len(window) < LEAST_POINTS or not sum(window):
        return None
    return sum(window[half : 2 * half]) / max(1, sum(window[:half])) - 1
