"""The twin of a gate: whether it can run, the rounds in which it takes part, and its cost."""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.bench.at_once import why_not_together
from touchstone.bench.base import Bench
from touchstone.judge.statistics.intervals import MIN_ROUNDS
from touchstone.manifest.catalogue import Contender
from touchstone.phase.load.slices import sliced_loads
from touchstone.record.sample import Sample
from touchstone.report.format import percent

MOST_SHARE = 0.15
"""The share of the rounds' time that the twin may take: a gate that is a seventh slower is still switched on."""


class TwinTurns:
    """Lets the twin take part in rounds within its share of the time.

    The first two rounds have it whatever it costs, since fewer give no interval.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._spent_s = 0.0
        self._dearest_s = 0.0
        self._total_s = 0.0
        self._rounds = 0
        self._took_part = 0

    def takes_part(self) -> bool:
        """Whether the twin takes part in the next round."""
        if self._took_part < MIN_ROUNDS:
            return True
        without = (self._total_s - self._spent_s) / self._rounds
        own = self._dearest_s
        return self._spent_s + own <= MOST_SHARE * (self._total_s + without + own)

    def after_round(self, samples: Iterable[Sample], contenders: int, took_s: float) -> None:
        """Add a round of this number of contenders and its duration.

        The twin's cost is that of its slices, and its part of all that is not a slice: starts, checks, ends.
        """
        self._rounds += 1
        self._total_s += took_s
        turns = [(s.contender, one.end - one.begin) for s in samples if s.slices for one in s.slices.slices]
        own = sum(seconds for name, seconds in turns if name == self.name)
        if own:
            self._took_part += 1
            cost_s = own + max(0.0, took_s - sum(seconds for _, seconds in turns)) / contenders
            self._spent_s += cost_s
            self._dearest_s = max(self._dearest_s, cost_s)

    @property
    def note(self) -> str:
        """Return a note with the twin's number of rounds and its cost."""
        share = percent(round(self._spent_s / self._total_s, 3)) if self._total_s else "none"
        return f"the twin took part in {self._took_part} of {self._rounds} rounds and took {share} of their time"


def measures_twin(phase: str) -> bool:
    """Whether a phase measures the twin: its build, and the loads. The contract is checked on the base."""
    return phase in ("build", "train", "load")


def no_room(bench: Bench, phases: Iterable[str], contenders: Iterable[Contender]) -> str | None:
    """Return why the twin cannot take part. None if it can."""
    if "load" not in phases:
        return "no load is measured, in which it could take part"
    if not sliced_loads(bench):
        return "no load has slices, in which it could take part"
    return why_not_together(bench, list(contenders))
