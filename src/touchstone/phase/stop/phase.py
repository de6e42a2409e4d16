"""The stop phase: SIGTERM under load, and what becomes of every request until the process has ended."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import ClassVar

from touchstone.bench.base import Bench, blank_process, sampling
from touchstone.bench.second_process import second_process, shares_port
from touchstone.bench.service import StartedService, running
from touchstone.contract.proof import Tally
from touchstone.contract.values import fresh_of
from touchstone.engine.job import request
from touchstone.engine.protocol import StopJob, Successor
from touchstone.failure import TouchstoneError
from touchstone.isolation.process import StartError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.stop import Stop
from touchstone.phase.base import Phase
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.phase.stop.figures import stop_figures, unanswered_work
from touchstone.plan.plan import spec_of
from touchstone.record.evidence.stop import StopEvidence, StopResult
from touchstone.record.sample import Sample
from touchstone.traffic.sequence import LoadSequence
from touchstone.traffic.stopping import stop_job, stop_service
from touchstone.vocabulary.phase import PHASES, PhaseKind
from touchstone.vocabulary.stop_figures import STOP_FIGURES

_HELD = 8
"""Slow requests that are in flight at the signal."""
_STREAMS = 8
"""Streams that are open at the signal."""
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
    streams: int = 0
    successor: bool = False
    """Whether a second process takes over."""
    same_port: bool = False
    """Whether that one listens at the same port, and not behind a relay."""


def cases_of(stop: Stop) -> list[StopCase]:
    """What is tried, each with a start of its own: one kind of client a case, so that each cost has one cause."""
    found = [
        StopCase("idle", stop.load, idle=stop.connections),
        StopCase("in-flight", stop.load, rate=stop.rate, connections=stop.connections),
    ]
    if stop.slow_load is not None:
        found.append(StopCase("slow", stop.slow_load, held=_HELD))
    if stop.stream_load is not None:
        found.append(StopCase("streams", stop.stream_load, streams=_STREAMS))
    found.append(StopCase("stuck", stop.load, stuck=_STUCK))
    return [*found, _rolling(stop)] if stop.rolling else found


def _rolling(stop: Stop, *, same_port: bool = False) -> StopCase:
    name = "rolling-port" if same_port else "rolling"
    return StopCase(name, stop.load, rate=stop.rate, connections=stop.connections, successor=True, same_port=same_port)


class StopPhase(Phase):
    """Starts a contender, puts clients on it, and sends SIGTERM."""

    kind: ClassVar[PhaseKind] = PHASES["stop"]

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario says under which load."""
        return scenario.stop is not None

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample a case. A second process at the same port is tried where the first case of that kind found it
        possible.
        """
        stop = bench.scenario.stop
        assert stop is not None  # `applies` has seen to it
        samples = [_measure(bench, contender, case, round_number, position) for case in cases_of(stop)]
        if any(sample.stop is not None and sample.stop.shares_port for sample in samples):
            samples.append(_measure(bench, contender, _rolling(stop, same_port=True), round_number, position))
        return samples


def _measure(bench: Bench, contender: Contender, case: StopCase, round_number: int | None, position: int) -> Sample:
    assert bench.scenario.stop is not None
    load = bench.scenario.loads[case.load]
    why = out_of_reach(contender, load)
    if why is None and case.successor and (port := bench.builds[contender.name].port) is not None:
        why = f"it always listens at port {port}, where its first process is"
    if why:
        sample = unmeasured(bench, contender, case.name, round_number, why, phase="stop", position=position)
        sample.spec = spec_of(load)
        return sample
    with sampling(
        bench, "stop", contender.name, load=case.name, round_number=round_number, position=position
    ) as sample:
        bench.watcher.step(f"ending {contender.name}: {case.name}")
        _OneStop(bench, contender, bench.scenario.stop, case).carry_out(sample)
    return sample


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
            evidence = self._replace(started, one) if self.case.successor else self._end(started, one)
            sample.evidence, result = evidence, evidence.result
            if evidence.second_failure is not None:
                sample.not_measured = dict.fromkeys(
                    (figure.name for figure in STOP_FIGURES), f"no second process: {evidence.second_failure}"
                )
                return
            if result.failure is not None:
                raise StopError(f"not ended under load: {result.failure}", fix="read the service's log")
            if result.streams.open < self.case.streams:
                raise StopError(
                    f"{result.streams.ended_before} of {self.case.streams} streams of the load {self.case.load!r} "
                    "ended before the service got SIGTERM",
                    fix="name a load in stop.stream_load whose streams last longer than 2 s",
                )
            if result.under_way.sent < self.case.held:
                raise StopError(
                    f"{self.case.held - result.under_way.sent} of {self.case.held} requests of the load "
                    f"{self.case.load!r} were answered within {_LEAD_S} s, before the service got SIGTERM",
                    fix="name a load in stop.slow_load whose requests take longer",
                )
            everything = result.sent
            uncertain = everything.sent - everything.right - everything.turned_away + self.case.streams
            one.prove(Tally(sent=everything.sent + self.case.streams, ok=everything.right, uncertain=uncertain))
            if not self.case.streams:
                evidence.unanswered_work = unanswered_work(load, sample.proofs, everything.right)
            sample.figures, sample.not_measured = stop_figures(evidence)

    def _end(self, started: StartedService, one: LoadSequence, successor: Successor | None = None) -> StopEvidence:
        with one.watched():
            result = stop_service(started, self._job(started, one, successor))
        return StopEvidence(
            case=self.case.name,
            within_s=self.stop.within_s,
            result=result,
            exit=started.exited(),
            survivors=started.process.left_behind() if result.stop_s is not None else [],
            rate=self.case.rate,
        )

    def _replace(self, started: StartedService, one: LoadSequence) -> StopEvidence:
        """End it with a second process beside it, which takes over."""
        bench, case, built = self.bench, self.case, self.bench.builds[self.contender.name]
        record = blank_process(bench, "stop", self.contender.name, one.sample.round)
        shares = not case.same_port and shares_port(started)
        with ExitStack() as stack:
            try:
                second, place = stack.enter_context(
                    second_process(bench, built, started, record, under=one.load, same_port=case.same_port)
                )
            except StartError as error:
                nothing = StopResult(failure="no second process ran beside it")
                return StopEvidence(
                    case=case.name,
                    within_s=self.stop.within_s,
                    result=nothing,
                    shares_port=shares,
                    second_failure=str(error.what),
                )
            successor: Successor = {"pid": second.pid, "address": None if case.same_port else str(place)}
            evidence = self._end(started, one, successor)
            evidence.shares_port, evidence.second_exit = shares, second.exited()
        return evidence

    def _job(self, started: StartedService, one: LoadSequence, successor: Successor | None) -> StopJob:
        return {
            "successor": successor,
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
            "streams": self.case.streams,
            "silent": self.case.stuck,
            "half_sent": 1 if self.case.stuck else 0,
        }
