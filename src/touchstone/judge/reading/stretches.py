"""The warm-up and the load of one contender, stretch by stretch, on its own clock."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from touchstone.record.sample import Sample


@dataclass(frozen=True)
class Stretch:
    """A slice, or an interval of a whole window's series."""

    end: float
    """In seconds under load, from the first request on."""
    seconds: float
    """Its length."""
    ok: int
    phase: str


def stretches(sample: Sample) -> list[Stretch]:
    """Stretches of the warm-up and the load. In slices a contender's clock stops while others are loaded."""
    if sample.slices is not None:
        parts = [(one.end - one.begin, one.ok, one.lap_phase) for one in sample.slices.slices]
        ends = accumulate(length for length, _, _ in parts)
        return [Stretch(end, *part) for end, part in zip(ends, parts, strict=True)]
    series = sample.result.series if sample.result else []
    begins = [0.0, *(point.t for point in series)]
    return [
        Stretch(point.t, point.t - begin, point.ok, point.phase)
        for begin, point in zip(begins, series, strict=False)
        if point.phase in ("warmup", "load")
    ]
