"""Goes on past the plan's rounds: until every comparison is decided, or until a given time is spent.

Who looks after every round and stops at the first difference will find one; so a run that ends when it is decided
looks seldom, and shares its error among the looks. Rounds and laps are weighed against each other by what each costs
and tells.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from touchstone.judge.comparison.economy import spread
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.judge.statistics.sequential import confidence_after, confidence_at_look, look_rounds
from touchstone.plan.laps import worthwhile_laps
from touchstone.record.run import Plan
from touchstone.record.store import RunStore, load_run
from touchstone.vocabulary.figure import FIGURES
from touchstone.vocabulary.phase import PHASES

MOST_ROUNDS = 60
"""Past so many rounds a difference that is still undecided is smaller than anyone should care about."""
_LAPS = (6, 96)
"""A round of fewer laps says nothing of its own scatter; one of more is better spent on fresh processes."""


class GoingOn:
    """Asked after each round. The plan's confidence becomes that of the look at which the run ended."""

    def __init__(
        self, store: RunStore, plan: Plan, seconds: float, *, spend: bool = False, figures: Collection[str] = ()
    ) -> None:
        self._store = store
        self._plan = plan
        self._spend = spend
        self._figures = frozenset(figures)
        self._begin = self._last = time.monotonic()
        self._deadline = self._begin + seconds
        self._round_s = 0.0
        self._confidence = plan.confidence
        self.laps: int | None = None
        """How many laps the next round should have; None while nothing speaks for another number than the plan's."""

    def go_on(self, rounds: int) -> bool:
        """Whether another round is wanted, after so many."""
        now = time.monotonic()
        self._round_s, self._last = now - self._last, now
        if self._spend:
            self._weigh()
            return now + self._round_s <= self._deadline
        if rounds >= MOST_ROUNDS or now > self._deadline:
            looks = look_rounds(MOST_ROUNDS)
            self._settle(confidence_at_look(len(looks), len(looks), self._confidence))
            return False
        confidence = confidence_after(rounds, MOST_ROUNDS, self._confidence)
        if confidence is None:
            return True
        judged = judge(load_run(self._store.folder), confidence=confidence)
        if any(_open(comparison, self._figures) for comparison in judged.comparisons):
            self._weigh()
            return True
        self._settle(confidence)
        return False

    def _weigh(self) -> None:
        """Choose the next round's laps: what a fresh round costs against what a further lap tells."""
        seen = spread(load_run(self._store.folder))
        if seen is None:
            return
        overhead_s = max(0.0, self._round_s - seen.laps * seen.lap_s)
        self.laps = worthwhile_laps(overhead_s, seen.lap_s, seen.between, seen.within, _LAPS)

    def _settle(self, confidence: float) -> None:
        self._plan.confidence = confidence
        self._store.write_plan(self._plan)


def _open(comparison: Comparison, figures: frozenset[str]) -> bool:
    """Whether it still has to be decided: it is one of `figures`, or of the headlines if none is named."""
    return (
        comparison.outcome is Outcome.UNDECIDED
        and comparison.verdict is not Verdict.INVALID
        and PHASES[comparison.phase].per_round
        and (comparison.figure in figures if figures else FIGURES[comparison.figure].headline)
    )
