"""The steps from the baseline's CPU per request to the contender's, for every form that shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from touchstone.judge.why.explanation import Explanation, Part


@dataclass(frozen=True)
class Step:
    """One part: its bar begins where the one before it ended. `left` and `width` are shares of the whole width."""

    part: Part
    left: float
    width: float

    @property
    def more(self) -> bool:
        """Whether the contender needs more of it."""
        return self.part.difference > 0


def steps(found: Explanation) -> list[Step]:
    """The parts, what adds most first, and the rest at the end."""
    parts = [*sorted(found.parts, key=lambda part: -part.difference), found.rest]
    edges = list(_edges(found.total.baseline, parts))
    low, high = min(0.0, *edges), max(edges)
    width = (high - low) or 1.0
    return [
        Step(part, (min(begin, end) - low) / width, abs(end - begin) / width)
        for part, (begin, end) in zip(parts, pairwise(edges), strict=True)
    ]


def _edges(begin: float, parts: list[Part]) -> Iterator[float]:
    yield begin
    for part in parts:
        begin += part.difference
        yield begin
