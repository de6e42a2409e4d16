"""The load phase: each load of the plan on a fresh process with fresh dependencies, watched on one clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from touchstone.contract.checker import Checker, light_checks
from touchstone.contract.proof import Tally, prove
from touchstone.contract.template import ValueSource
from touchstone.dependency.base import Dependency
from touchstone.engine.client import run_job
from touchstone.engine.job import load_job, watch
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.contract import Act
from touchstone.manifest.load import Load
from touchstone.phase.base import Bench, Phase, attempt, blank_sample
from touchstone.phase.dependency_watch import DependencyWatch
from touchstone.phase.load_figures import load_figures
from touchstone.phase.machine_watch import MachineWatch
from touchstone.phase.service import Running, running
from touchstone.record.engine import LoadResult
from touchstone.record.sample import ProofOutcome, Sample


class PrepareError(TouchstoneError):
    """The requests that go before a load were not answered as they must be."""


class LoadPhase(Phase):
    """Puts every load of the plan on a contender."""

    name: ClassVar[str] = "load"
    title: ClassVar[str] = "Load"
    per_round: ClassVar[bool] = True

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample a load."""
        return [
            self._measure_load(bench, contender, name, load, (round_number or 1, position))
            for name, load in bench.loads.items()
        ]

    def _measure_load(
        self, bench: Bench, contender: Contender, name: str, load: Load, place: tuple[int, int]
    ) -> Sample:
        round_number, position = place
        sample = blank_sample(bench, self.name, contender.name, load=name, round_number=round_number, position=position)
        sample.load_spec = load.model_dump(mode="json", by_alias=True)

        def action(sample: Sample) -> None:
            bench.watcher.step(f"loading {contender.name}: {name}")
            with running(
                bench,
                bench.builds[contender.name],
                sample,
                settings=load.dependency_settings,
                memory_limit=None if load.memory_limit_mb is None else load.memory_limit_mb * 2**20,
            ) as contender_running:
                self._put_load(bench, contender_running, load, round_number, sample)
            for state in sample.dependencies:
                state.ceiling = bench.ceilings.get((name, state.name))

        return attempt(sample, action, bench.store.logs / f"{sample.id}.log")

    def _put_load(self, bench: Bench, contender: Running, load: Load, round_number: int, sample: Sample) -> None:
        checker = Checker(contender.service, bench.dependencies, bench.seed)
        prepare_load(checker, load, bench.seed)
        timing = bench.profile.timing(load, round_number)
        job = load_job(load, contender.url, timing, cpus=bench.placement.engine_cpus, seed=bench.seed + round_number)
        cgroup = contender.process.cgroup
        job["watch"] = watch(
            contender.process.pid, [str(folder) for folder in cgroup.folders] if cgroup else [], timing.idle_s
        )
        machine = MachineWatch(cgroup)
        with DependencyWatch(bench.dependencies, contender.leftovers) as observed:
            result = run_job("load", job, LoadResult, on_event=bench.watcher.event)
        sample.detail["machine"] = machine.end()
        sample.result = result
        sample.dependencies = observed.states
        sample.figures, sample.not_measured = load_figures(result)
        if contender.process.exited() is None:
            sample.proofs = prove_load(load, bench.dependencies, result, bench.seed)
            sample.checks = checker.run(light_checks(bench.scenario.contract))


def prepare_load(checker: Checker, load: Load, seed: int) -> None:
    """Send what goes before a load. Raises PrepareError if it is not answered as it must be."""
    source = ValueSource(seed)
    for step in load.prepare:
        if isinstance(step, Act):
            checker.dependencies[step.dependency].act(step.act, dict(step.with_))
        elif broken := checker.send(step, source):
            first = broken[0]
            raise PrepareError(
                f"the load's preparation broke: {first.request}: expected {first.expected}, received {first.received}",
                mend="run the contract check: `touchstone run --phase verify`",
            )


def prove_load(load: Load, dependencies: Mapping[str, Dependency], result: LoadResult, seed: int) -> list[ProofOutcome]:
    """Ask the dependencies for the proof of the whole load, warm-up included."""
    totals = result.totals
    uncertain = totals.sent - totals.completed
    values = ValueSource(seed).next()
    tally = Tally(sent=totals.sent, ok=totals.ok, uncertain=uncertain)
    return [prove(proof, dependencies, tally, values) for proof in load.proofs]
