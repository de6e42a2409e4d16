"""A drain's order and completeness are proven from what reached the downstream, and every planted fault shows."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from touchstone.bench.base import Bench, Built
from touchstone.dependency.base import Dependency, DependencyContext
from touchstone.dependency.echo import Echo
from touchstone.dependency.kafka import Kafka
from touchstone.engine.client import Event
from touchstone.engine.locate import engine_path
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.scenario import Drain, Scenario
from touchstone.manifest.stack import Stack
from touchstone.phase.drain.arrival_order import prove_arrivals
from touchstone.phase.drain.figures import drain_figures, progress, standstill
from touchstone.phase.drain.phase import DrainPhase, fillings
from touchstone.plan.preset import PROFILES
from touchstone.record.process import Placement
from touchstone.record.sample import Sample
from touchstone.record.store import RunStore
from touchstone.toolchain.cache import cache_folder

PRODUCED = {0: 2, 1: 2}
WHOLE = [(1.0, "0-0"), (1.1, "1-0"), (1.2, "0-1"), (1.3, "1-1")]


def test_a_whole_drain_in_order_has_nothing_to_say() -> None:
    proof = prove_arrivals(PRODUCED, WHOLE)
    assert (proof.lost, proof.doubled, proof.out_of_order, proof.unknown) == (0, 0, 0, 0)
    assert proof.consumed == PRODUCED


def test_partitions_may_come_mixed_but_each_in_its_order() -> None:
    assert prove_arrivals(PRODUCED, [WHOLE[1], WHOLE[3], WHOLE[0], WHOLE[2]]).out_of_order == 0
    assert prove_arrivals(PRODUCED, [WHOLE[2], WHOLE[0], WHOLE[1], WHOLE[3]]).out_of_order == 1


def test_a_message_that_never_came_is_lost_and_there_is_no_rate() -> None:
    proof = prove_arrivals(PRODUCED, WHOLE[:-1])
    assert proof.lost == 1
    assert proof.consumed == {0: 2, 1: 1}
    figures, missing = drain_figures(proof, 0.5)
    assert figures == {}
    assert "1 messages never reached" in missing["drain_rate"]


def test_a_message_that_comes_again_is_doubled_and_not_out_of_order() -> None:
    proof = prove_arrivals(PRODUCED, [*WHOLE, (1.4, "0-0")])
    assert (proof.doubled, proof.out_of_order, proof.lost) == (1, 0, 0)
    assert proof.first[-1] == 1.3


def test_ids_that_were_never_produced_are_not_counted() -> None:
    proof = prove_arrivals(PRODUCED, [*WHOLE, (1.4, "0-2"), (1.5, "7-0"), (1.6, "x")])
    assert proof.unknown == 3
    assert len(proof.first) == 4


def test_figures_run_from_exec_and_between_the_first_and_the_last() -> None:
    figures, missing = drain_figures(prove_arrivals(PRODUCED, WHOLE), 0.5)
    assert missing == {}
    assert figures["drain_rate"] == pytest.approx(3 / 0.3)
    assert figures["drain_time"] == pytest.approx(0.3)
    assert figures["drain_first_from_exec"] == pytest.approx(0.5)
    assert figures["drain_last_from_exec"] == pytest.approx(0.8)


def test_a_partition_that_waits_for_another_stands_still() -> None:
    busy = [(n * 0.01, f"0-{n}") for n in range(200)]
    waiting = [(n * 0.01, f"1-{n}") for n in range(10)] + [(1.9 + n * 0.01, f"1-{10 + n}") for n in range(10)]
    stood = standstill(prove_arrivals({0: 200, 1: 20}, sorted(busy + waiting)))
    assert stood[0] == 0
    assert stood[1] == pytest.approx(0.9, abs=0.02)


def test_a_partition_that_waits_until_another_is_through_stands_still() -> None:
    one = [(n * 0.01, f"0-{n}") for n in range(100)]
    other = [(1.0 + n * 0.01, f"1-{n}") for n in range(100)]
    stood = standstill(prove_arrivals({0: 100, 1: 100}, one + other))
    assert stood[0] == 0
    assert stood[1] == pytest.approx(0.5, abs=0.02)


def test_nothing_that_came_stood_still() -> None:
    assert standstill(prove_arrivals({0: 1}, [(1.0, "0-0")])) == {}


def test_progress_keeps_few_points_and_the_last() -> None:
    points = progress([n / 100 for n in range(10_000)], 0.0)
    assert len(points) <= 202
    assert points[0].done == 1
    assert (points[-1].t, points[-1].done) == (99.99, 10_000)


def test_the_large_number_is_for_the_thorough_profile_and_unequal_partitions_for_exhibits() -> None:
    drain = Drain(
        dependency="topic",
        downstream="downstream",
        messages=[1000],
        thorough_messages=[100_000],
        exhibit_spreads=["keyless", "skewed"],
    )
    assert [f.name for f in fillings(drain, "quick", exhibits=False)] == ["1000-messages"]
    assert [f.name for f in fillings(drain, "thorough", exhibits=True)] == [
        "1000-messages",
        "100000-messages",
        "1000-messages-keyless",
        "1000-messages-skewed",
    ]


SCENARIO = Scenario.model_validate(
    {
        "schema": 1,
        "name": "relay-test",
        "title": "a relay",
        "summary": "a relay",
        "ready": {"target": "/ping", "expect": {"body": "pong"}},
        "contract": [
            {"id": "ping", "says": "it pings", "steps": [{"target": "/ping", "expect": {"body": "pong"}}]},
        ],
        "loads": {"ping": {"title": "ping", "requests": [{"target": "/ping"}]}},
        "drain": {"dependency": "topic", "downstream": "downstream", "messages": [100], "within_s": 30.0},
    }
)


class Silent:
    def begins(self, sample: Sample) -> None:
        return

    def step(self, text: str) -> None:
        return

    def event(self, event: Event) -> None:
        return

    def say(self, text: str) -> None:
        return


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("drain")
    try:
        engine = engine_path()
    except TouchstoneError as error:
        pytest.skip(str(error))
    cpus = (max(os.sched_getaffinity(0)),)

    def context(name: str) -> DependencyContext:
        return DependencyContext(folder / name, folder / "logs", cpus, engine, cache_folder())

    if lacking := Kafka.missing(context("topic")):
        pytest.skip(lacking)
    (folder / "samples").mkdir()
    (folder / "logs").mkdir()
    dependencies: dict[str, Dependency] = {
        "downstream": Echo("downstream", "DOWNSTREAM_URL", {"delay_ms": 2}, context("downstream")),
        "topic": Kafka(
            "topic",
            "KAFKA_BOOTSTRAP",
            {"topic": "benchmark-topic", "partitions": 5, "group": "relay"},
            context("topic"),
        ),
    }
    started: list[Dependency] = []
    try:
        for dependency in dependencies.values():
            dependency.start()
            started.append(dependency)
        yield Bench(
            scenario=SCENARIO,
            loads={},
            profile=PROFILES["quick"],
            placement=Placement(),
            dependencies=dependencies,
            store=RunStore(folder),
            scratch=folder / "scratch",
            seed=7,
            watcher=Silent(),
        )
    finally:
        for dependency in started:
            dependency.stop()


def drained(bench: Bench, fault: str, *, within_s: float = 60.0) -> Sample:
    """One drain of a hundred messages by the small relay with a fault."""
    assert bench.scenario.drain is not None
    drain = bench.scenario.drain.model_copy(update={"within_s": within_s})
    service = Path(__file__).with_name("relay_service.py")
    variant = {"title": "plain", "run": [sys.executable, str(service)]}
    stack = Stack.model_validate(
        {
            "schema": 1,
            "name": "small",
            "scenario": "relay-test",
            "title": "small",
            "language": "Python",
            "variants": {"plain": variant},
        }
    )
    contender = Contender(stack, "plain")
    built = Built(bench.scratch.parent, (), (sys.executable, str(service)), {"FAULT": fault, "PATH": os.defpath})
    prepared = replace(
        bench, builds={contender.name: built}, scenario=bench.scenario.model_copy(update={"drain": drain})
    )
    (sample,) = DrainPhase().measure(prepared, contender, 1, 0)
    return sample


@pytest.mark.slow
def test_a_sound_relay_drains_all_once_and_in_order(bench: Bench) -> None:
    sample = drained(bench, "")
    assert sample.failure is None
    log = sample.drain
    assert log is not None
    assert log.produced == log.consumed == {str(p): 20 for p in range(5)}
    assert (log.lost, log.doubled, log.out_of_order) == (0, 0, 0)
    assert set(sample.figures) == {"drain_rate", "drain_time", "drain_first_from_exec", "drain_last_from_exec"}
    assert 0 < sample.figures["drain_first_from_exec"] < sample.figures["drain_last_from_exec"]
    assert all(proof.passed for proof in sample.proofs)
    assert log.reported == {"processed": 100}
    assert log.progress[-1].done == 100
    assert [check.id for check in sample.checks if check.passed] == ["ping"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "within_s", "expected"),
    [("drop", 8.0, "lost"), ("double", 60.0, "doubled"), ("disorder", 60.0, "out_of_order")],
)
def test_a_planted_fault_shows_in_the_log(bench: Bench, fault: str, within_s: float, expected: str) -> None:
    log = drained(bench, fault, within_s=within_s).drain
    assert log is not None
    found = {name: getattr(log, name) for name in ("lost", "doubled", "out_of_order")}
    assert found.pop(expected) >= 10
    assert set(found.values()) == {0}


@pytest.mark.slow
def test_a_relay_that_dies_is_said_and_what_it_did_is_kept(bench: Bench) -> None:
    sample = drained(bench, "die")
    assert sample.process.server_exit == "exited with code 3"
    log = sample.drain
    assert log is not None
    assert 0 < log.lost < 100
    assert "drain_rate" in sample.not_measured


@pytest.mark.slow
def test_a_relay_that_consumes_nothing_is_a_failure(bench: Bench) -> None:
    sample = drained(bench, "idle", within_s=2.0)
    assert sample.failure is not None
    assert "no message reached" in sample.failure.what


@pytest.mark.slow
def test_a_broker_that_is_killed_half_way_fails_one_drain_and_not_the_next(bench: Bench) -> None:
    topic = bench.dependencies["topic"]

    class Killing(Silent):
        def step(self, text: str) -> None:
            return

    original = Echo.ask

    def ask_and_kill(echo: Echo, query: str) -> int | float | str:
        found = original(echo, query)
        if isinstance(found, int) and found >= 20 and topic.pids():
            topic.act("kill", {})
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Echo, "ask", ask_and_kill)
        broken = drained(bench, "", within_s=5.0)
    assert broken.failure is not None
    assert drained(bench, "").failure is None
