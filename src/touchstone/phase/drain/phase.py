"""The drain phase: a topic that is full when the contender starts, and how fast it is worked through."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

from pydantic import JsonValue

from touchstone.bench.base import Bench, sampling
from touchstone.bench.service import StartedService, running
from touchstone.contract.checker import ContractChecker, light_checks
from touchstone.contract.values import ValueSource
from touchstone.dependency.base import Dependency
from touchstone.dependency.echo import Echo
from touchstone.failure import TouchstoneError, UsageError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.exchange import Request
from touchstone.manifest.scenario import Drain, Scenario
from touchstone.phase.base import Phase
from touchstone.phase.drain.arrival_order import prove_arrivals
from touchstone.phase.drain.figures import drain_evidence, drain_figures
from touchstone.record.sample import ProofOutcome, Sample
from touchstone.traffic.dependency_watch import DependencyWatch
from touchstone.vocabulary.phase import PHASES, PhaseKind

if TYPE_CHECKING:
    from touchstone.dependency.kafka import Kafka

_EVEN = "even"
_POLL_S = 0.1

Kind = TypeVar("Kind", bound=Dependency)


class DrainError(TouchstoneError):
    """A drain gave nothing to measure."""


@dataclass(frozen=True)
class TopicFilling:
    """How a topic is filled before the start."""

    messages: int
    spread: str

    @property
    def name(self) -> str:
        """Its name in records and reports."""
        return f"{self.messages}-messages" + ("" if self.spread == _EVEN else f"-{self.spread}")


def fillings(drain: Drain, profile: str, *, exhibits: bool) -> Iterator[TopicFilling]:
    """What is drained: equal partitions in every number of messages, unequal ones in the first number alone."""
    counts = [*drain.messages, *(drain.thorough_messages if profile == "thorough" else [])]
    yield from (TopicFilling(count, _EVEN) for count in counts)
    if exhibits:
        yield from (TopicFilling(counts[0], spread) for spread in drain.exhibit_spreads)


class DrainPhase(Phase):
    """Fills the topic, starts the contender, and watches until all is committed. The clock is the downstream's log."""

    kind: ClassVar[PhaseKind] = PHASES["drain"]

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario names a topic."""
        return scenario.drain is not None

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample a filling."""
        assert bench.scenario.drain is not None  # `applies` has seen to it
        drain = bench.scenario.drain
        samples = []
        for filling in fillings(drain, bench.profile.name, exhibits=bench.options.drain_exhibits):
            with sampling(
                bench, "drain", contender.name, load=filling.name, round_number=round_number, position=position
            ) as sample:
                _OneDrain(bench, contender, drain, filling).carry_out(sample)
            samples.append(sample)
        return samples


@dataclass(frozen=True)
class _OneDrain:
    bench: Bench
    contender: Contender
    drain: Drain
    filling: TopicFilling

    def carry_out(self, sample: Sample) -> None:
        from touchstone.dependency.kafka import Kafka  # noqa: PLC0415  # its client library takes half a second

        bench = self.bench
        topic = _dependency(bench, "dependency", self.drain.dependency, Kafka)
        downstream = _dependency(bench, "downstream", self.drain.downstream, Echo)
        bench.watcher.step(f"draining {self.filling.name} by {self.contender.name}")
        produced: dict[int, int] = {}
        reported: JsonValue = None

        def fill() -> None:
            # The run's seed and not the round's: all are compared on the same unequal partitions.
            produced.update(topic.produce(self.filling.messages, self.filling.spread, bench.seed))

        with running(bench, bench.builds[self.contender.name], sample.process, before_start=fill) as contender:
            ready_s = time.monotonic()
            with DependencyWatch(bench.dependencies, contender.leftovers) as observed:
                self._watch(topic, downstream, contender, sum(produced.values()))
            committed, end = topic.ask("committed"), topic.ask("end")
            sample.proofs = [
                ProofOutcome(
                    says="the group has committed every message",
                    query="committed",
                    expected=end,
                    found=committed,
                    passed=committed == end,
                )
            ]
            if contender.process.exited() is None:
                reported = _reported(contender, self.drain.stats_target, bench.seed)
                checker = ContractChecker(contender.service, bench.dependencies, bench.seed)
                sample.checks = checker.run(light_checks(bench.scenario.contract_over(bench.scenario.protocol)))
        sample.dependencies = observed.states
        # Read when the contender has ended: a call on its last breath counts, too.
        proof = prove_arrivals(produced, [(arrival.at_s, arrival.id) for arrival in downstream.arrivals()])
        exec_s = contender.process.exec_s
        evidence = drain_evidence(produced, proof, exec_s, ready_s)
        sample.evidence = evidence.model_copy(update={"reported": reported})
        sample.figures, sample.not_measured = drain_figures(proof, exec_s)
        if not proof.first:
            raise DrainError("no message reached the downstream", fix="check that the consumer starts; read its log")

    def _watch(self, topic: Kafka, downstream: Echo, contender: StartedService, messages: int) -> None:
        """Wait until every message has come and is committed, at most the scenario's time.

        Raises DependencyError if the broker ends meanwhile: nothing more will come.
        """
        until = time.monotonic() + self.drain.within_s
        while time.monotonic() < until and contender.process.exited() is None:
            topic.see_that_it_runs()
            if int(downstream.ask("ids:distinct")) >= messages and topic.ask("lag") == 0:
                return
            time.sleep(_POLL_S)


def _dependency(bench: Bench, key: str, name: str, kind: type[Kind]) -> Kind:
    found = bench.dependencies.get(name)
    if not isinstance(found, kind):
        raise UsageError(
            f"drain.{key} is {name!r}, which is not a dependency of kind {kind.kind}", fix="name one in scenario.toml"
        )
    return found


def _reported(contender: StartedService, target: str, seed: int) -> JsonValue:
    """What the service itself says it did; kept next to the proof, and never counted."""
    answer = contender.service.exchange(Request(target=target), ValueSource(seed).next(), whole=True)
    try:
        reported: JsonValue = json.loads(answer.body)
    except ValueError:
        return str(answer)
    return reported
