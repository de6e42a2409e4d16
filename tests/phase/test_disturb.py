"""Parts of the phase `disturb`: a load's steps and work, the relay as a process, and its place before a dependency."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.bench.test_at_once import contender
from touchstone.contract.proof import Tally
from touchstone.dependency.base import DependencyContext
from touchstone.dependency.echo.dependency import Echo
from touchstone.engine.client import EngineError
from touchstone.engine.locate import engine_path
from touchstone.engine.relay import Relay
from touchstone.isolation.port import free_port
from touchstone.manifest.disturbance import Disturbance
from touchstone.manifest.load import Load
from touchstone.phase.disturb.figures import lost_and_doubled
from touchstone.phase.disturb.reading import steps_of
from touchstone.phase.disturb.relays import Disturbed, round_trip_s
from touchstone.phase.tail.phase import TailPhase
from touchstone.record.sample import ProofOutcome

from .test_peak import bench_of

HOST = "127.0.0.1"


def load(*faults: dict[str, Any], **more: Any) -> Load:
    requests = [{"name": "a", "target": "/a"}, {"name": "b", "target": "/b"}]
    stated = {"title": "L", "loop": "open", "rate": 10.0, "seconds": 10.0, "requests": requests, "disturb": [*faults]}
    return Load.model_validate(stated | more)


def fault(at_s: float, for_s: float, act: str = "stall") -> dict[str, Any]:
    return {"at_s": at_s, "for_s": for_s, "dependency": "downstream", "act": act}


def test_a_load_has_a_step_for_each_fault_and_each_calm_between() -> None:
    steps = steps_of(load(fault(5, 2), fault(1.5, 0.5)))
    assert [step["seconds"] for step in steps] == [1.5, 0.5, 3.0, 2.0, 2.0, 1.0]
    assert {step["rate"] for step in steps} == {10.0}


def test_slow_requests_are_not_looked_at_while_a_dependency_fails(tmp_path: Path) -> None:
    bench = replace(bench_of(tmp_path), loads={"bad-minute": load(fault(5, 2))})
    assert TailPhase().measure(bench, contender("slow", None), 1, 0) == []


@pytest.mark.parametrize(
    ("found", "lost", "doubled"), [(140, 0, 0), (150, 0, 0), (139, 1, 0), (151, 0, 1), (0, 140, 0), (300, 0, 150)]
)
def test_work_is_held_against_the_requests_that_a_proof_names(found: int, lost: int, doubled: int) -> None:
    # 40 right and 10 uncertain answers to `a`, and 100 messages that were put in before.
    proof = {"says": "p", "dependency": "downstream", "query": "hits:/a", "equals": "ok + 100", "requests": ["a"]}
    whole = Tally(100, 80, 20, by_request={"a": Tally(50, 40, 10), "b": Tally(50, 40, 10)})
    outcome = ProofOutcome(says="p", query="hits:/a", expected=140, found=found, passed=False)
    assert lost_and_doubled(load(fault(3, 1), proofs=[proof]), [outcome], whole) == (lost, doubled)


def test_a_fixed_answer_counts_no_work() -> None:
    proof = {"says": "p", "dependency": "downstream", "query": "in_flight:now", "equals": 0}
    outcome = ProofOutcome(says="p", query="in_flight:now", expected=0, found=3, passed=False)
    assert lost_and_doubled(load(fault(3, 1), proofs=[proof]), [outcome], Tally(10, 10)) is None


@pytest.fixture(name="echo")
def running_echo(tmp_path: Path) -> Iterator[Echo]:
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    context = DependencyContext(tmp_path / "echo", tmp_path, cpus, engine_path(), tmp_path, relay_port=free_port(HOST))
    echo = Echo("downstream", "DOWNSTREAM_URL", {"delay_ms": 1}, context)
    echo.start()
    yield echo
    echo.stop()


def test_a_service_is_given_the_relay_s_address_only_while_it_stands(echo: Echo) -> None:
    own = echo.environment()
    with Relay(HOST, echo.context.relay_port or 0) as relay:
        echo.relay = relay.place
        assert echo.environment() == {"DOWNSTREAM_URL": f"http://{HOST}:{echo.context.relay_port}"}
        assert echo.listens_at() == (HOST, own["DOWNSTREAM_URL"].rpartition(":")[2])
        echo.relay = None
    assert echo.environment() == own


def ask(port: int) -> bytes:
    with socket.create_connection((HOST, port), 10) as client:
        client.sendall(b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        received = b""
        while data := client.recv(4096):
            received += data
        return received


def test_a_fault_begins_and_ends_with_its_context(echo: Echo) -> None:
    port = echo.context.relay_port or 0
    with Relay(HOST, port) as relay:
        target = Disturbed(echo, relay)
        target.aim()
        assert b"200 OK" in ask(port)
        with target.fault(Disturbance.model_validate(fault(3, 1, "error"))):
            assert b" 503 " in ask(port)
        with target.fault(Disturbance.model_validate(fault(3, 1, "refuse"))), pytest.raises(ConnectionRefusedError):
            ask(port)
        assert b"200 OK" in ask(port)
        counts = target.counts()
        assert counts is not None
        assert (counts.accepted, counts.turns, counts.open) == (3, 3, 0)


def test_a_port_that_is_taken_is_an_error_that_names_it() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EngineError, match=f"{HOST}:{port} cannot be listened on"), Relay(HOST, port):
            pass


def test_the_cost_of_the_relay_is_a_time() -> None:
    assert 0.0 <= round_trip_s(()) < 1.0


def test_a_relay_that_has_died_is_an_error_of_the_engine() -> None:
    with pytest.raises(EngineError, match="the relay ended"), Relay(HOST, free_port(HOST)) as relay:
        relay.count()
        psutil.Process(relay._process.pid).kill()
        relay._process.wait()
        relay.count()
