"""The base class of phases. A phase decides what to measure in a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from touchstone.bench.base import Bench
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.scenario import Scenario
from touchstone.record.sample import Sample
from touchstone.vocabulary.phase import PhaseKind


@dataclass(frozen=True)
class EachInTurn:
    """Measures contenders one after the other, each by `Phase.measure`."""


@dataclass(frozen=True)
class AllAtOnce:
    """Measures all contenders at the same time, at the beginning of a round.

    Yields samples as soon as they are complete.
    """

    measure: Callable[[Bench, Sequence[Contender], int], Iterator[list[Sample]]]


@dataclass(frozen=True)
class NullServerTurn:
    """Measures the null server, before each round and after the last."""

    measure: Callable[[Bench, int], list[Sample]]


@dataclass(frozen=True)
class ReportNote:
    """A note for every report on how this phase was measured."""

    text: str


PlannedTurn = EachInTurn | AllAtOnce | NullServerTurn | ReportNote


class Phase(ABC):
    """One kind of measurement in one run; it keeps its own results for later rounds.

    A turn returns a sample that says why it failed on a contender. `EachInTurn` may raise TouchstoneError instead: the
    caller makes that sample.
    """

    kind: ClassVar[PhaseKind]
    """Its declaration: name, title, and when a run carries it out."""
    outside: ClassVar[bool] = False
    """True if it can be carried out on a service that touchstone did not start."""
    at_once: ClassVar[bool] = False
    """True if all contenders are to run at once, where they can."""

    def applies(self, scenario: Scenario) -> bool:
        """Whether the scenario describes this phase."""
        return True

    def takes(self, contender: Contender) -> bool:
        """Whether the phase can be carried out on a contender."""
        return self.outside or contender.outside is None

    def stage(self, contenders: Sequence[Contender]) -> str:
        """Return what the phase does to these contenders, as text. For phases before the rounds."""
        return self.kind.title

    def plan(self, bench: Bench, contenders: Sequence[Contender]) -> Iterator[PlannedTurn]:
        """Return the turns for these contenders.

        By default, each contender is measured alone.

        Asked once, before the first round. A phase outside the rounds measures each contender by itself.
        """
        yield EachInTurn()

    @abstractmethod
    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """Measure one contender in a round, at its position in the order."""
