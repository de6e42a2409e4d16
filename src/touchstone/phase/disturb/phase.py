"""The disturb phase: a load while a dependency fails, and the load after it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import ClassVar

from touchstone.bench.base import Bench, sampling
from touchstone.bench.service import StartedService, running
from touchstone.contract.proof import Tally
from touchstone.contract.values import ValueSource, fresh_of
from touchstone.engine.job import Timing, next_counter
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.contract import Act
from touchstone.manifest.load import Load
from touchstone.manifest.scenario import Scenario
from touchstone.phase.base import EachInTurn, Phase, PlannedTurn
from touchstone.phase.disturb.figures import disturb_figures, lost_and_doubled
from touchstone.phase.disturb.needs import needs_of, patience_of
from touchstone.phase.disturb.reading import INTERVAL_S, DisturbedLoad, steps_of
from touchstone.phase.disturb.relays import Disturbed, disturbed, round_trip_s
from touchstone.phase.disturb.timetable import Timetable
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.disturb import DisturbEvidence
from touchstone.record.sample import Sample
from touchstone.traffic.prepare import prepare_load
from touchstone.traffic.sequence import LoadSequence
from touchstone.vocabulary.phase import PHASES, PhaseKind

PATIENCE_S = 15.0
"""How long a request waits for a dependency that stalls until it counts as one without a timeout: beyond the 5 and 10 s
that services and drivers usually set."""
_WAITED = 0.8
"""A request that waited for this share of a stall may have no timeout; one that was answered before has one."""
_WARMUP_S = 1.0
_MOST_CONNECTIONS = 4096


class DisturbPhase(Phase):
    """Loads a contender while its dependencies fail, each load on a start of its own."""

    kind: ClassVar[PhaseKind] = PHASES["disturb"]

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self.patience_s = patience_s
        self.relay_s: float | None = None
        """By how much a relay lengthens a round trip, once that was measured."""

    def applies(self, scenario: Scenario) -> bool:
        """Only where a load has faults."""
        return any(load.disturb for load in scenario.loads.values())

    def plan(self, bench: Bench, contenders: Sequence[Contender]) -> Iterator[PlannedTurn]:
        """Each contender by itself, if the run has a load with faults."""
        if bench.disturbed_loads:
            yield EachInTurn()

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample a load."""
        samples = []
        for name, load in bench.disturbed_loads.items():
            if why := out_of_reach(contender, load):
                samples.append(
                    unmeasured(bench, contender, name, round_number, why, phase="disturb", position=position)
                )
                continue
            with sampling(
                bench, "disturb", contender.name, load=name, round_number=round_number, position=position
            ) as sample:
                bench.watcher.step(f"disturbing {contender.name}: {name}")
                patience_s = self.patience_s if round_number in (None, 1) else 0.0
                one = _OneLoad(bench, contender, load, sample, patience_s)
                one.carry_out()
                self._note_relay(one)
            samples.append(sample)
        return samples

    def _note_relay(self, one: _OneLoad) -> None:
        """Put the cost of the relay on record; it is measured once a run."""
        if one.evidence is None or all(found.relay is None for found in one.disturbed.values()):
            return
        if self.relay_s is None:
            self.relay_s = round_trip_s(one.bench.placement.dependency_cpus)
        one.evidence.relay_s = self.relay_s


@dataclass
class _OneLoad:
    bench: Bench
    contender: Contender
    load: Load
    sample: Sample
    patience_s: float
    disturbed: Mapping[str, Disturbed] = field(default_factory=dict)
    evidence: DisturbEvidence | None = None

    def carry_out(self) -> None:
        bench, sample = self.bench, self.sample
        with ExitStack() as stack:
            self.disturbed = stack.enter_context(disturbed(bench, self.load))
            built = bench.builds[self.contender.name]
            started = stack.enter_context(
                running(bench, built, sample.process, under=self.load, before_start=self._aim)
            )
            one, acts = self._prepared(started)
            values = ValueSource(bench.seed, fresh_of(bench.seed), dict(one.load.captured), 0)
            needs = needs_of(one.load, started.service, self.disturbed, values)
            self._warm_up(one, values)
            timetable = Timetable(self.load.disturb, self.disturbed)
            used_s = self._cpu_s()
            with one.watched(), timetable:
                prepare_load(one.checker, acts, bench.seed)
                result = self._put(one, timetable, values.counter)
            evidence = DisturbedLoad(self.load, result, timetable, needs, started.exited()).evidence()
            sample.evidence = self.evidence = evidence
            if any(found.relay for found in self.disturbed.values()):
                evidence.relay_cpu_s = self._cpu_s() - used_s
            if evidence.died is None:
                self._settle(one, evidence)
                self._try_patience(started, evidence, values)
            else:
                # Its death is what was measured, and no failure of the measurement.
                started.stopped_for_s = 0.0
            sample.figures, sample.not_measured = disturb_figures(evidence)

    def _aim(self) -> None:
        for one in self.disturbed.values():
            one.aim()

    def _cpu_s(self) -> float:
        return sum(one.cpu_s() for one in self.disturbed.values())

    def _prepared(self, started: StartedService) -> tuple[LoadSequence, Load]:
        """The load, prepared but for the acts at the end of its preparation, and these acts.

        What they do, such as filling a topic, would hide which dependency a single request needs.
        """
        steps = list(self.load.prepare)
        while steps and isinstance(steps[-1], Act):
            steps.pop()
        acts = self.load.model_copy(update={"prepare": self.load.prepare[len(steps) :]})
        load = self.load.model_copy(update={"prepare": steps})
        return LoadSequence(self.bench, started, load, self.sample).prepare(), acts

    def _warm_up(self, one: LoadSequence, values: ValueSource) -> None:
        """Put the load on for a while, as a job of its own.

        All requests of the next job are then counted by name.
        """
        warmup_s = _WARMUP_S if one.load.warmup_s is None else one.load.warmup_s
        if warmup_s:
            job = one.job(Timing(0.0, warmup_s, 0.0), watch=False)
            job["first_counter"] = values.counter
            values.counter = next_counter(values.counter, self.bench.put_load(job).totals.sent)

    def _put(self, one: LoadSequence, timetable: Timetable, asked: int) -> LoadResult:
        """Put the load on, with a connection for each request that may have to wait."""
        load = one.load
        assert load.rate is not None and load.seconds is not None  # the manifest's own validation
        longest_s = min(load.timeout_s, 1.0 + max(fault.for_s for fault in load.disturb))
        needed = min(_MOST_CONNECTIONS, math.ceil(load.rate * longest_s))
        one.load = load.model_copy(update={"connections": max(load.connections, needed)}).with_captured(load.captured)
        job = one.job(Timing(0.0, load.seconds, 0.0))
        job["loop"] = {"kind": "steps", "steps": steps_of(load), "arrivals": load.arrivals}
        job["series_interval_s"] = INTERVAL_S
        job["first_counter"] = asked
        return self.bench.put_load(job, timetable.on_event)

    def _settle(self, one: LoadSequence, evidence: DisturbEvidence) -> None:
        """Check the proof of the load's work, and the contract where the service has recovered."""
        by_request = {
            request.name: Tally(sent=request.sent, ok=request.ok, uncertain=request.sent - request.ok)
            for request in evidence.result.requests
        }
        counts = evidence.result.counts
        whole = Tally(counts.sent, counts.ok, counts.sent - counts.ok, by_request=by_request)
        one.prove(whole)
        evidence.work = lost_and_doubled(self.load, self.sample.proofs, whole)
        if all(fault.recovery_s is not None for fault in evidence.faults):
            one.settle(None)

    def _try_patience(self, started: StartedService, evidence: DisturbEvidence, values: ValueSource) -> None:
        """Have a dependency stall for longer, where requests waited as long as it stalled."""
        if not self.patience_s:
            return
        values.counter = next_counter(values.counter, evidence.result.totals.sent)
        evidence.patience_s = self.patience_s
        for name, target in self.disturbed.items():
            stalls = [fault for fault in evidence.faults if fault.dependency == name and fault.act == "stall"]
            if not any((fault.needing.max or 0.0) >= _WAITED * fault.for_s for fault in stalls):
                continue
            evidence.patience += patience_of(
                self.load,
                started.service,
                target,
                stalls[0].needing.names,
                values,
                within_s=self.patience_s,
                on_step=self.bench.watcher.step,
            )
