"""When a run has had its rounds: those of the plan, or fewer where it is short of time or enough is known."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

from touchstone.judge.statistics.intervals import MIN_ROUNDS
from touchstone.plan.profile import LEAST_ROUNDS
from touchstone.record.run import Plan, Run
from touchstone.record.store import RunStore, load_run


class Ending(Protocol):
    """Asked after each round whether it was the last."""

    @property
    def laps(self) -> int | None:
        """How many laps the next round should have; None while nothing speaks for another number than the plan's."""

    @property
    def note(self) -> str:
        """What the report is to say of it; empty if nothing."""

    def reached(self, rounds: int) -> bool:
        """Whether so many rounds were all. One that asks for more than the plan's gets them."""


class PlannedRounds:
    """The plan's rounds, unless they take too long or fewer say enough.

    Args:
        store, plan: the run's.
        most_s: no round is begun after `LEAST_ROUNDS` that would end later than so long after the first began.
        enough: whether what was measured says enough; asked as soon as there are intervals.

    """

    laps = None

    def __init__(
        self, store: RunStore, plan: Plan, most_s: float = math.inf, enough: Callable[[Run], bool] | None = None
    ) -> None:
        self.note = ""
        self._store = store
        self._plan = plan
        self._most_s = most_s
        self._enough = enough
        self._first_ended = 0.0

    def reached(self, rounds: int) -> bool:
        """Whether so many rounds were all."""
        now = time.monotonic()
        if rounds == 1:
            self._first_ended = now
        planned = self._plan.rounds
        if rounds >= planned:
            return True
        if rounds >= LEAST_ROUNDS and (rounds + 1) * (now - self._first_ended) / (rounds - 1) > self._most_s:
            self.note = (
                f"{rounds} rounds in place of {planned}: with another one they would have taken more than "
                f"{self._most_s / 60:.0f} minutes; --rounds {planned} measures all"
            )
            return True
        return rounds >= MIN_ROUNDS and self._enough is not None and self._enough(load_run(self._store.folder))
