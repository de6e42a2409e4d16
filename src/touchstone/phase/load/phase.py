"""The load phase. A load is measured in slices, or in a whole window on a new process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from touchstone.bench.base import Bench, blank_sample, sampling
from touchstone.bench.ceiling import Ceilings, measure_ceilings
from touchstone.bench.running_contender import running_contender
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.phase.base import AllAtOnce, EachInTurn, NullServerTurn, Phase, PlannedTurn, ReportNote
from touchstone.phase.load.figures import keep_figures, load_figures
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.phase.load.slices import SlicedLoads, sliced_loads
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.sample import TARE, Sample
from touchstone.traffic.null_server import load_null_server
from touchstone.traffic.sequence import LoadSequence
from touchstone.vocabulary.phase import PHASES, PhaseKind


class LoadPhase(Phase):
    """Loads a contender with every load of the plan."""

    kind: ClassVar[PhaseKind] = PHASES["load"]
    outside: ClassVar[bool] = True
    at_once: ClassVar[bool] = True

    def __init__(self) -> None:
        self.whole: dict[str, Load] = {}
        """The loads that need a whole window."""
        self.ceilings: Ceilings = {}

    def plan(self, bench: Bench, contenders: Sequence[Contender]) -> Iterator[PlannedTurn]:
        """Load all contenders in slices at once, and the rest one by one.

        What dependencies answer by themselves is measured first.
        """
        self.ceilings = measure_ceilings(bench)
        if bench.why_not_together is not None:
            yield ReportNote(f"{bench.why_not_together}: each contender is loaded by itself, in whole windows")
        if sliced := sliced_loads(bench):
            yield AllAtOnce(SlicedLoads(sliced, self.ceilings).measure)
        self.whole = {name: load for name, load in bench.calm_loads.items() if name not in sliced}
        if self.whole:
            yield NullServerTurn(self.tares)
            yield EachInTurn()

    def tares(self, bench: Bench, round_number: int) -> list[Sample]:
        """One null-server sample per whole-window load. In slices the null server takes part as a contender."""
        samples = []
        for name, load in self.whole.items():
            blank = blank_sample(bench, "load", TARE, load=name, round_number=round_number)
            sample = load_null_server(bench, load, blank)
            if sample.result:
                sample.figures, sample.not_measured = load_figures(sample.result)
            samples.append(sample)
        return samples

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample for each load that needs a whole window."""
        return [
            self._measure_load(bench, contender, name, load, (round_number or 1, position))
            for name, load in self.whole.items()
        ]

    def _measure_load(
        self, bench: Bench, contender: Contender, name: str, load: Load, place: tuple[int, int]
    ) -> Sample:
        number, position = place
        if why := out_of_reach(contender, load):
            return unmeasured(bench, contender, name, number, why)
        with (
            sampling(bench, "load", contender.name, load=name, round_number=number, position=position) as sample,
            running_contender(bench, contender, sample.process, under=load) as found,
        ):
            bench.watcher.step(f"loading {contender.name}: {name}")
            one = LoadSequence(bench, found, load, sample).prepare()
            job = one.job(bench.profile.timing(load, number))
            with one.watched():
                result = bench.put_load(job)
            sample.evidence = LoadEvidence(result=result)
            for state in sample.dependencies:
                state.ceiling = self.ceilings.get((name, state.name))
            keep_figures(sample, load_figures(result, found.unwatched))
            one.settle(result, look=number == 1)
        return sample
