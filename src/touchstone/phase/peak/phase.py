"""The peak phase: load at once after exec, so that a slow start and a high peak can be weighed against each other."""

from __future__ import annotations

import time
from typing import ClassVar

from touchstone.bench.base import Bench, attempt, blank_sample
from touchstone.bench.dependency_watch import DependencyWatch
from touchstone.bench.machine_watch import MachineWatch
from touchstone.bench.service import Running, running
from touchstone.contract.checker import Checker, light_checks
from touchstone.contract.values import fresh_of
from touchstone.engine.job import Timing, load_job
from touchstone.isolation.process import StartError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.manifest.scenario import Scenario
from touchstone.phase.base import Phase
from touchstone.phase.load.prepare import prepare_load, prove_load
from touchstone.phase.peak.served import peak_figures, served_by_second
from touchstone.phase.peak.tare import measure_peak_tare
from touchstone.record.evidence.peak import PeakResult
from touchstone.record.sample import Sample
from touchstone.vocabulary.phase import PHASES, PhaseKind

_INTERVAL_S = 0.1
"""Fine enough that the series can be read at the seconds since exec, which are not its own."""


class PeakPhase(Phase):
    """Starts a contender and loads it from its first correct response on, for a fixed time since exec."""

    kind: ClassVar[PhaseKind] = PHASES["peak"]

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario says under which load."""
        return scenario.peak is not None

    def tares(self, bench: Bench, round_number: int) -> list[Sample]:
        """One sample."""
        return measure_peak_tare(bench, peak_load(bench)[1], round_number)

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample. It has no load of its own name, so that it is never taken for the load phase's."""
        name, load = peak_load(bench)
        sample = blank_sample(
            bench, self.kind.name, contender.name, under=load, round_number=round_number, position=position
        )

        def action(sample: Sample) -> None:
            bench.watcher.step(f"starting {contender.name} and loading it at once")
            built = bench.builds[contender.name]
            with running(bench, built, sample, under=load) as contender_running:
                _load_at_once(bench, contender_running, name, load, sample)

        return [attempt(sample, action, bench.store.logs / f"{sample.id}.log")]


def peak_load(bench: Bench) -> tuple[str, Load]:
    """The scenario's load for this phase, with its name."""
    assert bench.scenario.peak is not None  # `applies` has seen to it
    name = bench.scenario.peak.load
    return name, bench.scenario.loads[name]


def _load_at_once(bench: Bench, contender: Running, name: str, load: Load, sample: Sample) -> None:
    within_s, exec_s = bench.profile.peak_s, contender.process.exec_s
    ready_s = time.monotonic() - exec_s
    checker = Checker(contender.service, bench.dependencies, bench.seed)
    load = load.with_captured(prepare_load(checker, load, bench.seed))
    machine = MachineWatch(contender.cgroup)
    with DependencyWatch(bench.dependencies, contender.leftovers) as observed:
        elapsed_s = time.monotonic() - exec_s
        if elapsed_s >= within_s:
            raise StartError(
                f"the load could begin only {elapsed_s:.1f} s after exec, and {within_s:g} s are watched",
                fix="see in its log what it does at the start, or take a longer profile",
            )
        timing = Timing(warmup_s=0.0, measured_s=within_s - elapsed_s, idle_s=0.0)
        seed, fresh = bench.seed + (sample.round or 0), fresh_of(bench.seed)
        job = load_job(load, contender.url, timing, cpus=bench.placement.engine_cpus, seed=seed, fresh=fresh)
        job["series_interval_s"] = _INTERVAL_S
        job["watch"] = contender.watch(after_s=0.0)
        # The engine states its start by the wall clock; exec is known on the monotonic one.
        exec_unix_s = time.time() - (time.monotonic() - exec_s)
        result = bench.put_load(job)
    sample.machine = machine.end()
    sample.result = result
    sample.dependencies = observed.states
    begins_s = result.window.start_unix_s - exec_unix_s
    served = served_by_second(result.series, begins_s, within_s)
    sample.peak = PeakResult(load=name, within_s=within_s, ready_s=ready_s, load_begins_s=begins_s, served=served)
    sample.figures = peak_figures(served)
    if contender.process.exited() is None:
        sample.proofs = prove_load(load, bench.dependencies, result, bench.seed)
        sample.checks = checker.run(light_checks(bench.scenario.contract, last=True))
