"""The shape of a phase."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

from touchstone.bench.base import Bench
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.scenario import Scenario
from touchstone.record.sample import Sample
from touchstone.vocabulary.phase import PhaseKind


class Phase(ABC):
    """One kind of measurement. A phase that fails on a contender returns a sample that says why."""

    kind: ClassVar[PhaseKind]
    """Its declaration: name, title, and how a run goes through it."""

    def applies(self, scenario: Scenario) -> bool:
        """Whether the scenario asks for it at all."""
        return True

    def before_rounds(self, bench: Bench, contenders: Sequence[Contender]) -> Iterator[str]:
        """What has to be known before the first round; yields what every report is to say of it."""
        return iter(())

    def tares(self, bench: Bench, round_number: int) -> list[Sample]:
        """The same without a contender, before a round and after the last; none where that means nothing."""
        return []

    def together(self, bench: Bench, contenders: Sequence[Contender], round_number: int) -> Iterator[list[Sample]]:
        """What is measured of all contenders at once, at the beginning of a round; nothing by default."""
        return iter(())

    @abstractmethod
    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """Measure one contender. TouchstoneError is turned into a sample with a failure by the caller."""
