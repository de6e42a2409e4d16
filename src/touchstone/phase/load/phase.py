"""The load phase: in slices, all contenders in turn, or in a whole window on a fresh process, as the load demands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from touchstone.bench.base import Bench, attempt, blank_sample
from touchstone.bench.ceiling import measure_ceilings
from touchstone.bench.dependency_watch import DependencyWatch
from touchstone.bench.engaged import Engaged, aim, engaged
from touchstone.bench.machine_watch import MachineWatch
from touchstone.contract.checker import Checker, light_checks
from touchstone.contract.values import fresh_of
from touchstone.engine.job import load_job
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.phase.base import Phase
from touchstone.phase.load.after_answers import look_after_answers
from touchstone.phase.load.figures import load_figures, memory_remarks, throttled_share
from touchstone.phase.load.fitting import apart_for_memory
from touchstone.phase.load.prepare import not_asked, prepare_load, prepare_once, prove_load
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.phase.load.slices import measure_slices, sliced_loads
from touchstone.phase.load.tare import measure_tare
from touchstone.record.sample import Sample
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
        return measure_tare(bench, round_number, bench.loads.keys() - sliced_loads(bench).keys())

    def together(self, bench: Bench, contenders: Sequence[Contender], round_number: int) -> Iterator[list[Sample]]:
        """The loads that can be cut into slices, on all contenders and the null server in turn."""
        return measure_slices(bench, contenders, round_number)

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample for each load that needs a whole window."""
        sliced = sliced_loads(bench)
        return [
            self._measure_load(bench, contender, name, load, (round_number or 1, position))
            for name, load in bench.loads.items()
            if name not in sliced
        ]

    def _measure_load(
        self, bench: Bench, contender: Contender, name: str, load: Load, place: tuple[int, int]
    ) -> Sample:
        round_number, position = place
        if why := out_of_reach(contender, load):
            return unmeasured(bench, contender, name, round_number, why)
        sample = blank_sample(
            bench, self.kind.name, contender.name, load=name, under=load, round_number=round_number, position=position
        )

        def action(sample: Sample) -> None:
            bench.watcher.step(f"loading {contender.name}: {name}")
            with engaged(bench, contender, sample, under=load) as found:
                self._put_load(bench, found, load, round_number, sample)
            for state in sample.dependencies:
                state.ceiling = bench.ceilings.get((name, state.name))

        return attempt(sample, action, bench.store.logs / f"{sample.id}.log")

    def _put_load(self, bench: Bench, contender: Engaged, load: Load, round_number: int, sample: Sample) -> None:
        checker = Checker(contender.service, contender.dependencies, bench.seed)
        if contender.outlives_rounds:
            captured = prepare_once(bench, sample.contender, checker, load, sample)
        else:
            captured = prepare_load(checker, load, bench.seed)
        load = load.with_captured(captured)
        sample.left_out += not_asked(load, contender.dependencies)
        timing = bench.profile.timing(load, round_number)
        seed, fresh = bench.seed + round_number, fresh_of(bench.seed)
        job = load_job(load, contender.url, timing, cpus=bench.placement.engine_cpus, seed=seed, fresh=fresh)
        aim(job, contender, timing.idle_s)
        machine = MachineWatch(contender.cgroup)
        with DependencyWatch(contender.dependencies, contender.leftovers) as observed:
            result = bench.put_load(job)
        sample.machine = machine.end()
        sample.result = result
        sample.dependencies = observed.states
        sample.figures, sample.not_measured = load_figures(result, contender.unwatched)
        if sample.placement.cpu_limit is not None:
            throttled_share(result, sample.figures, sample.not_measured)
        sample.remarks = memory_remarks(result)
        if contender.exited() is None:
            sample.proofs = prove_load(load, contender.dependencies, result, bench.seed)
            if sample.round == 1:
                look_after_answers(
                    load,
                    contender.service,
                    contender.dependencies,
                    sample.dependencies,
                    seed=bench.seed,
                    sent=result.totals.sent,
                )
            sample.checks = checker.run(light_checks(bench.scenario.contract, last=not contender.outlives_rounds))
