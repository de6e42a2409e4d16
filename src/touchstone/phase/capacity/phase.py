"""The capacity phase: the highest rate at which an objective holds, and what lies around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import ClassVar

from touchstone.bench.base import Bench, blank_process
from touchstone.bench.service import running
from touchstone.bench.together import StartedTogether, divisible, started_together
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.contract import Act
from touchstone.manifest.load import Load
from touchstone.manifest.objective import parse_objective
from touchstone.manifest.scenario import Scenario
from touchstone.phase.base import AllAtOnce, EachInTurn, Phase, PlannedTurn, ReportNote
from touchstone.phase.capacity.load_search import LoadSearch
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.record.sample import Sample
from touchstone.vocabulary.phase import PHASES, PhaseKind


class CapacityPhase(Phase):
    """Searches the knee of each load, of all contenders in turn where they can run together."""

    kind: ClassVar[PhaseKind] = PHASES["capacity"]

    def applies(self, scenario: Scenario) -> bool:
        """Only where an objective is stated, by the scenario or by the user."""
        return scenario.capacity is not None

    at_once: ClassVar[bool] = True

    def plan(self, bench: Bench, contenders: Sequence[Contender]) -> Iterator[PlannedTurn]:
        """Each load on all contenders in turn, if they can run at once. Else on one after the other, and why.

        Figures that compare them at one rate are missing then.
        """
        reasons = dict.fromkeys(_one_by_one(bench, load) for load in searched_loads(bench).values())
        for why in filter(None, reasons if len(contenders) > 1 else ()):
            text = f"{why}: the capacity of each is searched by itself, and none is measured at a rate that all have"
            yield ReportNote(text)
        if None in reasons:
            yield AllAtOnce(self.together)
        if any(reasons):
            yield EachInTurn()

    def together(self, bench: Bench, contenders: Sequence[Contender], round_number: int) -> Iterator[list[Sample]]:
        """The samples of each load under which all contenders can run at once."""
        for name, load in searched_loads(bench).items():
            if _one_by_one(bench, load) is None:
                yield from _hunt(bench, contenders, name, load, round_number)

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One contender alone, where they cannot run together."""
        samples: list[Sample] = []
        for name, load in searched_loads(bench).items():
            if _one_by_one(bench, load) is not None:
                for found in _hunt(bench, [contender], name, load, round_number or 1):
                    samples += found
        for sample in samples:
            sample.position = position
        return samples


def searched_loads(bench: Bench) -> dict[str, Load]:
    """The scenario's loads for the capacity search. The run's loads if none of these is part of it."""
    assert bench.scenario.capacity is not None  # `applies` has seen to it
    return bench.scenario.capacity.searched(bench.calm_loads)


def _one_by_one(bench: Bench, load: Load) -> str | None:
    """Why contenders cannot run at once, each with its own part of the dependencies. None if they can."""
    if bench.why_not_together is not None:
        return bench.why_not_together
    if not divisible(bench):
        return "the contenders talk to something that cannot be divided among them"
    if any(isinstance(step, Act) for step in load.prepare):
        return f"what goes before the load {load.title} acts on what the contenders share"
    return None


def _hunt(
    bench: Bench, contenders: Sequence[Contender], name: str, load: Load, round_number: int
) -> Iterator[list[Sample]]:
    """The samples of one load: each contender's, the tare's, and of those that it does not reach or did not start."""
    assert bench.scenario.capacity is not None  # `applies` has seen to it
    objective = parse_objective(bench.scenario.capacity.objective)
    reasons = [(one, out_of_reach(one, load)) for one in contenders]
    yield from ([unmeasured(bench, one, name, round_number, why, phase="capacity")] for one, why in reasons if why)
    able = [one for one, why in reasons if why is None]
    if not able:
        return
    together = started_together(bench, able, round_number, under=load, phase="capacity")
    # A process in a dead one's place ends before the parts of the dependencies that it uses.
    with together as (found, failed_starts), ExitStack() as places:

        def restart(one: StartedTogether) -> None:
            one.process = blank_process(bench, "capacity", one.contender.name, round_number)
            again = running(one.bench, bench.builds[one.contender.name], one.process, under=load)
            one.running = places.enter_context(again)

        alone = sum(one.outside is None for one in bench.contenders) > len(contenders)
        samples = LoadSearch(bench, name, load, objective, round_number, found, restart, alone=alone).measure()
    yield from ([sample] for sample in samples)
    yield from (lost.samples(bench, "capacity", [name], round_number) for lost in failed_starts)
