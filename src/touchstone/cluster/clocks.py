"""How far another node's clock is ahead of this one's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_TRIPS = 60
"""At a millisecond a trip that is short against any window, and the fastest of this number met no queue."""


@dataclass(frozen=True)
class ClockDistance:
    """Distance of two monotonic clocks, in seconds."""

    ahead_s: float
    residual_s: float
    """How far off that may be: half of the fastest round trip (Cristian 1989)."""


def clock_distance(there: Callable[[], float], trips: int = _TRIPS) -> ClockDistance:
    """Ask the other clock many times, and believe the fastest answer.

    It is measured again before each load: quartz drifts by up to some 50 us per second.
    """
    best: ClockDistance | None = None
    for _ in range(trips):
        asked = time.monotonic()
        reading = there()
        answered = time.monotonic()
        half = (answered - asked) / 2
        if best is None or half < best.residual_s:
            best = ClockDistance(reading - asked - half, half)
    assert best is not None  # there is at least one trip
    return best
