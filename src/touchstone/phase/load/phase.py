"""The load phase: in slices, all contenders in turn, or in a whole window on a fresh process, as the load demands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from touchstone.bench.base import Bench, blank_sample, sampling
from touchstone.bench.ceiling import measure_ceilings
from touchstone.bench.engaged import engaged
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.phase.base import Phase
from touchstone.phase.load.figures import keep_figures, load_figures
from touchstone.phase.load.fitting import apart_for_memory
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.phase.load.slices import measure_slices, sliced_loads
from touchstone.record.sample import TARE, Sample
from touchstone.traffic.null_server import load_null_server
from touchstone.traffic.sequence import LoadSequence
from touchstone.vocabulary.phase import PHASES, PhaseKind


class LoadPhase(Phase):
    """Puts every load of the plan on a contender."""

    kind: ClassVar[PhaseKind] = PHASES["load"]

    def before_rounds(self, bench: Bench, contenders: Sequence[Contender]) -> Iterator[str]:
        """What dependencies answer by themselves, and whether all contenders can run at once."""
        measure_ceilings(bench)
        if sliced_loads(bench):
            bench.apart = apart_for_memory(bench, contenders)
        if bench.apart is not None:
            yield f"{bench.apart}: each contender is loaded by itself, in whole windows"

    def tares(self, bench: Bench, round_number: int) -> list[Sample]:
        """One sample for each load that needs a whole window; of loads in slices the tare is one more contender."""
        samples = []
        for name, load in _whole(bench).items():
            blank = blank_sample(bench, "load", TARE, load=name, under=load, round_number=round_number)
            sample = load_null_server(bench, load, blank)
            if sample.result:
                sample.figures, sample.not_measured = load_figures(sample.result)
            samples.append(sample)
        return samples

    def together(self, bench: Bench, contenders: Sequence[Contender], round_number: int) -> Iterator[list[Sample]]:
        """The loads that can be cut into slices, on all contenders and the null server in turn."""
        return measure_slices(bench, contenders, round_number)

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample for each load that needs a whole window."""
        return [
            self._measure_load(bench, contender, name, load, (round_number or 1, position))
            for name, load in _whole(bench).items()
        ]

    def _measure_load(
        self, bench: Bench, contender: Contender, name: str, load: Load, place: tuple[int, int]
    ) -> Sample:
        number, position = place
        if why := out_of_reach(contender, load):
            return unmeasured(bench, contender, name, number, why)
        with (
            sampling(
                bench, "load", contender.name, load=name, under=load, round_number=number, position=position
            ) as sample,
            engaged(bench, contender, sample, under=load) as found,
        ):
            bench.watcher.step(f"loading {contender.name}: {name}")
            one = LoadSequence(bench, found, load, sample).prepare()
            job = one.job(bench.profile.timing(load, number))
            with one.watched():
                sample.result = bench.put_load(job)
            for state in sample.dependencies:
                state.ceiling = bench.ceilings.get((name, state.name))
            keep_figures(sample, load_figures(sample.result, found.unwatched))
            one.settle(sample.result, look=number == 1)
        return sample


def _whole(bench: Bench) -> dict[str, Load]:
    """The loads that need a whole window."""
    sliced = sliced_loads(bench)
    return {name: load for name, load in bench.loads.items() if name not in sliced}
