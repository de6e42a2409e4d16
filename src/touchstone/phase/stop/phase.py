"""The stop phase: SIGTERM under load, and what becomes of every request until the process has ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from touchstone.bench.base import Bench, sampling
from touchstone.bench.service import StartedService, running
from touchstone.contract.proof import Tally
from touchstone.contract.values import fresh_of
from touchstone.engine.job import request
from touchstone.engine.protocol import StopJob
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.scenario import Scenario, Stop
from touchstone.phase.base import Phase
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.phase.stop.figures import stop_figures, unanswered_work
from touchstone.plan.plan import spec_of
from touchstone.record.evidence.stop import StopEvidence
from touchstone.record.sample import Sample
from touchstone.traffic.sequence import LoadSequence
from touchstone.traffic.stopping import stop_job, stop_service
from touchstone.vocabulary.phase import PHASES, PhaseKind

_HELD = 8
"""Slow requests that are under way at the signal."""
_LEAD_S = 0.1
"""How long before the signal they are sent."""
_STUCK = 2
"""Clients that have connected and send nothing. One more has sent half of a request."""


class StopError(TouchstoneError):
    """A service could not be ended under load."""


@dataclass(frozen=True)
class StopCase:
    """The clients that a service has when it gets SIGTERM."""

    name: str
    load: str
    rate: float = 0.0
    connections: int = 0
    held: int = 0
    idle: int = 0
    stuck: int = 0


def cases_of(stop: Stop) -> list[StopCase]:
    """What is tried, each with a start of its own: one kind of client a case, so that each cost has one cause."""
    found = [
        StopCase("idle", stop.load, idle=stop.connections),
        StopCase("in-flight", stop.load, rate=stop.rate, connections=stop.connections),
    ]
    if stop.slow_load is not None:
        found.append(StopCase("slow", stop.slow_load, held=_HELD))
    return [*found, StopCase("stuck", stop.load, stuck=_STUCK)]


class StopPhase(Phase):
    """Starts a contender, puts clients on it, and sends SIGTERM."""

    kind: ClassVar[PhaseKind] = PHASES["stop"]

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario says under which load."""
        return scenario.stop is not None

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample a case."""
        assert bench.scenario.stop is not None  # `applies` has seen to it
        samples = []
        for case in cases_of(bench.scenario.stop):
            load = bench.scenario.loads[case.load]
            if why := out_of_reach(contender, load):
                sample = unmeasured(bench, contender, case.name, round_number, why, phase="stop", position=position)
                sample.spec = spec_of(load)
                samples.append(sample)
                continue
            with sampling(
                bench, "stop", contender.name, load=case.name, round_number=round_number, position=position
            ) as sample:
                bench.watcher.step(f"ending {contender.name}: {case.name}")
                _OneStop(bench, contender, bench.scenario.stop, case).carry_out(sample)
            samples.append(sample)
        return samples


@dataclass(frozen=True)
class _OneStop:
    bench: Bench
    contender: Contender
    stop: Stop
    case: StopCase

    def carry_out(self, sample: Sample) -> None:
        bench, load = self.bench, self.bench.scenario.loads[self.case.load]
        sample.spec = spec_of(load)
        built = bench.builds[self.contender.name]
        with running(bench, built, sample.process, under=load) as started:
            one = LoadSequence(bench, started, load, sample).prepare()
            with one.watched():
                result = stop_service(started, self._job(started, one))
            sample.evidence = evidence = StopEvidence(
                case=self.case.name,
                within_s=self.stop.within_s,
                result=result,
                exit=started.exited(),
                survivors=started.process.left_behind() if result.stop_s is not None else [],
            )
            if result.failure is not None:
                raise StopError(f"not ended under load: {result.failure}", fix="read the service's log")
            if result.under_way.sent < self.case.held:
                raise StopError(
                    f"{self.case.held - result.under_way.sent} of {self.case.held} requests of the load "
                    f"{self.case.load!r} were answered within {_LEAD_S} s, before the service got SIGTERM",
                    fix="name a load in stop.slow_load whose requests take longer",
                )
            everything = result.sent
            uncertain = everything.sent - everything.right - everything.turned_away
            one.prove(Tally(sent=everything.sent, ok=everything.right, uncertain=uncertain))
            evidence.unanswered_work = unanswered_work(load, sample.proofs, everything.right)
            sample.figures, sample.not_measured = stop_figures(evidence)

    def _job(self, started: StartedService, one: LoadSequence) -> StopJob:
        return {
            **stop_job(started, self.stop.within_s),
            "requests": [request(wanted) for wanted in one.load.requests],
            "rows": one.load.rows,
            "fresh": fresh_of(self.bench.seed) or "",
            "captured": dict(one.load.captured),
            "seed": one.seed,
            "rate": self.case.rate,
            "connections": self.case.connections,
            "held": self.case.held,
            "lead_s": _LEAD_S,
            "idle": self.case.idle,
            "silent": self.case.stuck,
            "half_sent": 1 if self.case.stuck else 0,
        }
