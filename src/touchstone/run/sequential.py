"""Adds rounds until all comparisons are decided, or until a given time is spent.

Who looks after every round and stops at the first difference will find one; so a run that ends when it is decided
looks seldom, and shares its error among the looks. Rounds and laps are weighed against each other by what each costs
and tells.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from touchstone.judge.comparison.variance import VarianceComponents, spread
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.judge.reading.laps import SLICED
from touchstone.judge.statistics.sequential import confidence_of_look, look_rounds
from touchstone.record.run import Plan, Run
from touchstone.vocabulary.figure import FIGURES
from touchstone.vocabulary.phase import PHASES

MOST_ROUNDS = 60
"""A difference that is still undecided after this number of rounds is too small to matter."""
_LOOKS = frozenset(look_rounds(MOST_ROUNDS))


class SequentialRounds:
    """A stopping rule that adds rounds. The plan's confidence becomes that of the last check."""

    note = ""

    def __init__(
        self,
        plan: Plan,
        seconds: float,
        *,
        spend: bool = False,
        still_open: Callable[[Comparison], bool],
    ) -> None:
        self._plan = plan
        self._seconds = seconds
        self._spend = spend
        self._still_open = still_open
        self._looked = 0.0
        self._begin = time.monotonic()
        self._deadline = self._begin + seconds
        self._round_s = 0.0
        self._confidence = plan.confidence
        self.laps: int | None = None
        """How many laps the next round should have; None while nothing speaks for another number than the plan's."""

    def reached(self, run: Run, rounds: int, took_s: float) -> bool:
        """Whether this was the last round; it is never before the plan's last."""
        self._round_s = took_s
        return not self._wants_another(run, rounds) and rounds >= self._plan.rounds

    def _wants_another(self, run: Run, rounds: int) -> bool:
        now = time.monotonic()
        if self._spend:
            self._weigh(run, ["throughput"])
            return now + self._round_s <= self._deadline
        last = rounds >= MOST_ROUNDS or now + self._round_s > self._deadline
        if rounds not in _LOOKS and not last:
            return True
        used = 1.0 if last else max((now - self._begin) / self._seconds, rounds / MOST_ROUNDS)
        confidence = confidence_of_look(self._looked, used, self._confidence)
        if not last:
            self._looked = used
            judged = judge(run, confidence=confidence)
            open_ = [c.figure for c in judged.comparisons if _can_change(c) and self._still_open(c)]
            if open_:
                self._weigh(run, [figure for figure in SLICED if figure in open_])
                return True
        self._plan.confidence = confidence
        return False

    def _weigh(self, run: Run, figures: Sequence[str]) -> None:
        """Choose the next round's number of laps. It weighs the cost of a round against the benefit of a lap."""
        found = [seen for figure in figures if (seen := spread(run, figure)) is not None]
        if found:
            self.laps = round(statistics.median(self._worthwhile(seen) for seen in found))

    def _worthwhile(self, seen: VarianceComponents) -> int:
        overhead_s = max(0.0, self._round_s - seen.laps[-1] * seen.lap_s)
        now = time.monotonic()
        left_s = self._deadline - now
        if not self._spend:
            # The comparison may be decided long before the deadline, so plan for as much time as was already spent.
            left_s = min(left_s, now - self._begin)
        return seen.worthwhile_laps(left_s, overhead_s, self._confidence)


def headline_open(comparison: Comparison) -> bool:
    """Whether the comparison is undecided and of a headline figure."""
    return comparison.outcome is Outcome.UNDECIDED and FIGURES[comparison.figure].headline


def _can_change(comparison: Comparison) -> bool:
    """Whether more rounds can change the verdict."""
    return comparison.verdict is not Verdict.INVALID and PHASES[comparison.phase].per_round
