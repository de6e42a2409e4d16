"""The steps from the baseline's CPU per request to the contender's, for all forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from touchstone.judge.why.explanation import CpuDifference, CpuExplanation


@dataclass(frozen=True)
class WaterfallBar:
    """One part: its bar begins where the one before it ended. `left` and `width` are shares of the whole width."""

    part: CpuDifference
    left: float
    width: float

    @property
    def more(self) -> bool:
        """Whether the contender needs more of it."""
        return self.part.difference > 0


@dataclass(frozen=True)
class Waterfall:
    """From the baseline's figure to the contender's."""

    steps: list[WaterfallBar]
    """The parts, what adds most first, and the rest at the end."""
    total: WaterfallBar
    """From the one figure to the other at once."""
    low: float
    high: float
    """Where the scale begins and ends, in seconds per request: as wide as the steps go, for they are small next to what
    both have in common."""


def waterfall(found: CpuExplanation) -> Waterfall:
    """The steps and their scale."""
    parts = [*sorted(found.parts, key=lambda part: -part.difference), found.rest]
    edges = list(_edges(found.total.baseline, parts))
    low, high = min(edges), max(edges)

    def step(part: CpuDifference, begin: float, end: float) -> WaterfallBar:
        width = (high - low) or 1.0
        return WaterfallBar(part, (min(begin, end) - low) / width, abs(end - begin) / width)

    steps = [step(part, begin, end) for part, (begin, end) in zip(parts, pairwise(edges), strict=True)]
    return Waterfall(steps, step(found.total, edges[0], edges[-1]), low, high)


def _edges(begin: float, parts: list[CpuDifference]) -> Iterator[float]:
    yield begin
    for part in parts:
        begin += part.difference
        yield begin
