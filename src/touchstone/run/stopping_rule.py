"""Decides when a run ends: after the plan's rounds, or earlier if time is short or the result is clear."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Protocol

from touchstone.judge.comparison.variance import lap_costs
from touchstone.judge.statistics.intervals import MIN_ROUNDS
from touchstone.plan.preset import LEAST_ROUNDS
from touchstone.record.run import Plan, Run

LEAST_LAPS = 5
"""Laps of a round that is short of time: 5 instead of 8 make an interval of four rounds 1.1 to 1.25 times as wide,
where the host doubles the time of a request for parts of a second; a round less makes it twice as wide."""


class StoppingRule(Protocol):
    """Decides after each round whether it was the last."""

    @property
    def laps(self) -> int | None:
        """Return the number of laps of the next round. None for the plan's number."""

    @property
    def note(self) -> str:
        """Return the note for the report; empty if there is none."""

    def reached(self, run: Run, rounds: int, took_s: float) -> bool:
        """Whether the run ends after `rounds` rounds, of which the last took `took_s` seconds."""


class PlannedRounds:
    """Ends after the plan's rounds, or earlier if time is short or the result is clear.

    Args:
        plan: the run's.
        most_s: how long the rounds may take. No round is begun after `LEAST_ROUNDS` that would end later; and where
            those would, they have fewer laps, down to `LEAST_LAPS`. So has the first, of which nobody knows the cost.
        usual_laps: of a round.
        enough: whether what was measured says enough; asked as soon as there are intervals.

    """

    def __init__(
        self,
        plan: Plan,
        most_s: float = math.inf,
        usual_laps: int = 1,
        enough: Callable[[Run], bool] | None = None,
    ) -> None:
        self.laps = None if math.isinf(most_s) else min(LEAST_LAPS, usual_laps)
        self._plan = plan
        self._most_s = most_s
        self._enough = enough
        self._spent_s = 0.0
        self._left_out = 0
        self._usual_laps = usual_laps
        self._least_laps = 0

    @property
    def note(self) -> str:
        """Return a note on rounds or laps left out for lack of time."""
        planned = self._plan.rounds
        fewer = []
        if self._left_out:
            fewer.append(f"{planned - self._left_out} of {planned} rounds were measured")
        if self._least_laps:
            fewer.append(f"some rounds have {self._least_laps} laps instead of {self._usual_laps}")
        if not fewer:
            return ""
        return f"Limited to {self._most_s:.0f} s of measuring: {' and '.join(fewer)}; `--rounds {planned}` measures all"

    def reached(self, run: Run, rounds: int, took_s: float) -> bool:
        """Whether this was the last round."""
        self._spent_s += took_s
        planned = self._plan.rounds
        if rounds >= planned:
            return True
        if rounds >= LEAST_ROUNDS and self._spent_s * (rounds + 1) / rounds > self._most_s:
            self._left_out = planned - rounds
            return True
        if rounds >= MIN_ROUNDS and self._enough is not None and self._enough(run):
            return True
        self._fit_laps(run, rounds, min(planned, LEAST_ROUNDS) - rounds)
        return False

    def _fit_laps(self, run: Run, rounds: int, left: int) -> None:
        """Choose the next round's laps so that the remaining rounds end in time."""
        if left <= 0 or math.isinf(self._most_s):
            return
        lap_s, laps = lap_costs(run)
        if lap_s <= 0:
            return
        overhead_s = self._spent_s / rounds - lap_s * statistics.fmean(laps)
        fit = int(((self._most_s - self._spent_s) / left - overhead_s) / lap_s)
        usual = self._usual_laps
        self.laps = None if fit >= usual else max(fit, min(LEAST_LAPS, usual))
        if self.laps is not None:
            self._least_laps = min(self._least_laps or self.laps, self.laps)
