"""Goes on past the plan's rounds until every comparison is decided, looking seldom enough not to find by chance."""

from __future__ import annotations

import time

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.judge.sequential import confidence_after, confidence_at_look, look_rounds
from touchstone.record.figure import FIGURES
from touchstone.record.run import Plan
from touchstone.record.store import RunStore, load_run

MOST_ROUNDS = 60
"""Past so many rounds a difference that is still undecided is smaller than anyone should care about."""
_REPEATED = {"boot", "load", "drain", "hold"}


class UntilDecided:
    """Asked after each round. The plan's confidence becomes that of the look at which the run ended."""

    def __init__(self, store: RunStore, plan: Plan, seconds: float) -> None:
        self._store = store
        self._plan = plan
        self._deadline = time.monotonic() + seconds
        self._confidence = plan.confidence

    def go_on(self, rounds: int) -> bool:
        """Whether another round is wanted."""
        if rounds >= MOST_ROUNDS or time.monotonic() > self._deadline:
            looks = look_rounds(MOST_ROUNDS)
            self._settle(confidence_at_look(len(looks), len(looks), self._confidence))
            return False
        confidence = confidence_after(rounds, MOST_ROUNDS, self._confidence)
        if confidence is None:
            return True
        judged = judge(load_run(self._store.folder), confidence=confidence)
        if any(map(_open, judged.comparisons)):
            return True
        self._settle(confidence)
        return False

    def _settle(self, confidence: float) -> None:
        self._plan.confidence = confidence
        self._store.write_plan(self._plan)


def _open(comparison: Comparison) -> bool:
    return (
        comparison.outcome is Outcome.UNDECIDED
        and comparison.verdict is not Verdict.INVALID
        and comparison.phase in _REPEATED
        and FIGURES[comparison.figure].headline
    )
