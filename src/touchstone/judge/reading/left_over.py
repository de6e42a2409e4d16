"""Whether a change within a window is that of the machine: others took more of it, and a request cost no more CPU."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from touchstone.judge.judgement import SteadyState
from touchstone.judge.reading.traffic import loop
from touchstone.record.evidence.slices import LEAST_LEFT, Slice
from touchstone.record.sample import Sample

_HALF = 0.5
"""The share of a change that others must explain, and that the service's own CPU per request must not."""


def is_of_the_machine(sample: Sample, change: SteadyState, cpus: int) -> bool:
    """Whether the two levels differ because others left the contender less of the machine.

    Known of closed loops in slices alone. A service that works more for each request at first is slower by itself.
    """
    laps = sample.counted_slices
    if loop(sample) != "closed" or not laps or not change.changepoints_s:
        return False
    early = [one for one in laps if one.end <= change.changepoints_s[0]]
    late = [one for one in laps if one.begin >= change.changepoints_s[-1]]
    level = math.log(change.levels[0])
    left = _ratio([_left(one, cpus) for one in early], [_left(one, cpus) for one in late])
    cost = _ratio([_cost(one) for one in early], [_cost(one) for one in late])
    if left is None or cost is None or level == 0:
        return False
    return left / level >= _HALF and -cost / level < _HALF


def _ratio(early: Sequence[float | None], late: Sequence[float | None]) -> float | None:
    """The logarithm of the medians' ratio; None where a slice does not know its value."""
    before, after = [one for one in early if one], [one for one in late if one]
    if not before or not after or len(before) < len(early) or len(after) < len(late):
        return None
    return math.log(statistics.median(before) / statistics.median(after))


def _left(one: Slice, cpus: int) -> float | None:
    """The share of its own CPUs left by others, or of the machine if unrecorded."""
    if one.left_here is not None or one.other_cpu_s is None:
        return one.left_here
    taken = one.other_cpu_s + (one.steal_s or 0.0)
    return max(LEAST_LEFT, 1 - taken / max(1e-9, (one.end - one.begin) * max(1, cpus)))


def _cost(one: Slice) -> float | None:
    """CPU of a request in seconds."""
    return one.server_cpu_s / one.completed if one.server_cpu_s and one.completed else None
