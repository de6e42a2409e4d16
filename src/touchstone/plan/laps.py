"""The order of contenders within laps, and the length of their slices."""

from __future__ import annotations

import random
from collections.abc import Mapping

_GENERATIONS = 4
_SHARED_S = 2.0
_LONGEST_S = 20.0
LEAST_TWIN_LAPS = 4
"""The judge takes a round's effect from no fewer laps."""


def balanced_laps(count: int, laps: int, dice: random.Random) -> list[list[int]]:
    """The laps over the contenders 0 to `count` - 1, by Williams designs (1949).

    Over a whole design (`count` laps if that is even, twice as many if it is odd) each contender stands in each place
    equally often, and follows each other equally often, so that what one leaves behind for the next falls on all
    alike. In which order a design's laps come, and which contender stands for which of its letters, is drawn: in the
    order in which they are made a contender's turns come at an even pace, and can keep step with what a service does
    every second, so that all of them meet it, or none.
    """
    drawn: list[list[int]] = []
    while len(drawn) < laps:
        letters = dice.sample(range(count), count)
        rows = _williams(count)
        drawn += [[letters[letter] for letter in row] for row in dice.sample(rows, len(rows))]
    return drawn[:laps]


def twin_laps(laps: int) -> int:
    """Return the number of laps in which the twin takes part: half of them, but a minimum."""
    return min(laps, max(LEAST_TWIN_LAPS, laps // 2))


def _williams(count: int) -> list[list[int]]:
    if count < 2:
        return [[*range(count)]]
    zigzag = [0]
    for step in range(1, count):
        zigzag.append((step + 1) // 2 if step % 2 else count - step // 2)
    rows = [[(place + shift) % count for place in zigzag] for shift in range(count)]
    return rows if count % 2 == 0 else rows + [row[::-1] for row in rows]


def shortest_slice(connections: int, rate: float) -> float:
    """The shortest slice, in seconds, in which a contender ends `_GENERATIONS` whole ones. 0 if its rate is unknown."""
    return _GENERATIONS * connections / rate if rate > 0 else 0.0


def slice_lengths(connections: int, rates: Mapping[int, float], usual: float) -> dict[int, float]:
    """Return the length of each contender's slices in seconds, computed from the rates of responses.

    Equal for all where the slowest needs no more than `_SHARED_S`. Who needs more has longer ones for itself, up to
    `_LONGEST_S`: to wait so long in every slice of the others would tell nothing of them.
    """
    needed = {contender: shortest_slice(connections, rate) for contender, rate in rates.items()}
    shared = max([usual, *(length for length in needed.values() if length <= _SHARED_S)])
    return {contender: min(_LONGEST_S, length) if length > shared else shared for contender, length in needed.items()}
