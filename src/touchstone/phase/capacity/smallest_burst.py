"""The smallest burst that a service does not return from, found by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable

from touchstone.record.evidence.capacity import BurstEvidence, SmallestBurst

HEIGHT = 2.0
"""The rate of these bursts, as a multiple of the capacity."""
SHORTEST_S = 0.1
_NARROW = 1.15
"""The search ends when the shortest burst that the service did not return from is at most this many times the longest
one that it returned from."""
_MOST = 12
_VOID = 2
"""This number of bursts in a row that say nothing end the search."""


def smallest_burst(longest_s: float, window_s: float, offer: Callable[[float], BurstEvidence]) -> SmallestBurst:
    """Narrow down the length of the shortest burst without recovery.

    A search that too many void bursts end before that knows neither of the two lengths.

    Args:
        longest_s: the length of the longest burst, in seconds, which is offered first.
        window_s: the length of the load after each burst, in seconds.
        offer: carries out a burst of this length, in seconds.

    """
    found = SmallestBurst(height=HEIGHT, window_s=window_s)
    length, voids = longest_s, 0
    while found.offered < _MOST and voids < _VOID:
        burst = offer(length)
        found.offered += 1
        if burst.void:
            voids += 1
            continue
        voids = 0
        if burst.recovery_s is None:
            found.stays_s, found.died = length, burst.died
        else:
            found.returns_s = length
        if found.died or found.stays_s is None or found.stays_s <= SHORTEST_S:
            return found
        low = found.returns_s or SHORTEST_S / 2
        if found.stays_s / low <= _NARROW:
            return found
        length = max(SHORTEST_S, math.sqrt(low * found.stays_s))
    return SmallestBurst(height=HEIGHT, window_s=window_s, offered=found.offered)
