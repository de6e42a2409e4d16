"""The search of the memory floor: which limit is tried next, and with which heap flags."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from touchstone.record.evidence.floor import FloorTry

_MB = 2**20


@dataclass(frozen=True)
class Trial:
    """One limit with one set of heap flags: what became of it."""

    limit_mb: int
    setting: str
    lives: bool
    passes: bool
    rate: float | None = None
    p99: float | None = None
    death: str | None = None
    share: float | None = None
    """Its rate over that without a limit."""
    peak: int | None = None
    """Bytes at most."""

    def record(self) -> FloorTry:
        """The form that the record keeps; bytes, requests per second, seconds."""
        return FloorTry(
            limit=self.limit_mb * _MB,
            setting=self.setting,
            lives=self.lives,
            passes=self.passes,
            rate=self.rate,
            p99=self.p99,
            death=self.death,
            share=self.share,
            peak=self.peak,
        )


def smallest(low: int, high: int, holds: Callable[[int], bool], start: int | None = None) -> int | None:
    """The smallest whole number in [low, high] for which `holds` is true. None if it is false even for `high`.

    `holds` must be monotone, as memory limits nearly are. From `start` on the numbers are doubled until one holds, and
    the rest is bisection. A good `start` halves the number of questions.
    """
    top = high if start is None else min(max(start, low), high)
    while not holds(top):
        if top == high:
            return None
        low, top = top + 1, min(high, 2 * top)
    while low < top:
        middle = (low + top) // 2
        if holds(middle):
            top = middle
        else:
            low = middle + 1
    return top


class FloorSearch:
    """Finds the two floors over all settings; each trial is made once.

    A setting is searched to the end only if it passes one megabyte below the best of those before it, so that a
    further setting that is no better costs one trial.
    """

    def __init__(self, settings: Sequence[str], low: int, high: int, attempt: Callable[[int, str], Trial]) -> None:
        self._settings = settings
        self._low = low
        self._high = high
        self._attempt = attempt
        self._made: dict[tuple[int, str], Trial] = {}

    @property
    def trials(self) -> list[Trial]:
        """Every trial, by limit."""
        return sorted(self._made.values(), key=lambda trial: (trial.limit_mb, trial.setting))

    def at(self, limit_mb: int, setting: str) -> Trial:
        """The trial of a limit and a setting, made now if it has not been made."""
        key = (limit_mb, setting)
        if key not in self._made:
            self._made[key] = self._attempt(limit_mb, setting)
        return self._made[key]

    def passes(self, start: int) -> tuple[int, str] | None:
        """The smallest limit that passes, and the setting with which it does. `start` is where to look first."""
        return self._least(lambda limit, setting: self.at(limit, setting).passes, start, self._high)

    def lives(self, below: int | None) -> tuple[int, str] | None:
        """The smallest limit that lives; `below` is one that is known to, if any is."""
        return self._least(lambda limit, setting: self.at(limit, setting).lives, None, below or self._high)

    def _least(self, holds: Callable[[int, str], bool], start: int | None, high: int) -> tuple[int, str] | None:
        best: tuple[int, str] | None = None
        for setting in self._settings:
            top = high if best is None else best[0] - 1
            if top < self._low or (best is not None and not holds(top, setting)):
                continue
            at = start if best is None else None
            found = smallest(self._low, top, lambda limit, name=setting: holds(limit, name), at)  # type: ignore[misc]
            if found is not None:
                best = (found, setting)
        return best


def curve_limits(floor_mb: int, high: int, tried: Sequence[int]) -> list[int]:
    """Limits above the floor at which the curve still lacks a point: one in each of a few steps up to four times it."""
    steps = [floor_mb, *(round(floor_mb * share) for share in (1.25, 1.6, 2.2, 3.0, 4.0))]
    return [
        upper
        for lower, upper in itertools.pairwise(steps)
        if upper <= high and not any(lower < limit <= upper for limit in tried)
    ]
