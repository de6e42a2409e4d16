"""How a service ends while clients keep their connections."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from touchstone.bench.base import Ports
from touchstone.bench.service import StartedService
from touchstone.bench.waiting import wait_for_listener
from touchstone.engine.client import EngineError
from touchstone.isolation.port import free_port
from touchstone.isolation.process import start_process
from touchstone.manifest.contract import Act, Check, Send
from touchstone.manifest.scenario import Scenario
from touchstone.phase.verify import ending
from touchstone.phase.verify.ending import end_with_clients, plain_requests
from touchstone.record.process import EndingWithClients

SERVICE = Path(__file__).parent / "stopping_service.py"
LOADS = {"a": {"title": "A", "connections": 1, "requests": [{"name": "a", "target": "/"}]}}


def ended(folder: Path, mode: str, *targets: str) -> EndingWithClients | None:
    """How a service of `stopping_service.py` ends whose clients have asked for these targets."""
    port = free_port()
    env = {"PORT": str(port), "STOP_LOG": "/dev/null", "PATH": os.environ["PATH"]}
    cpus = sorted(os.sched_getaffinity(0))
    service = start_process(
        [sys.executable, str(SERVICE), mode], env=env, cwd=folder, log=folder / "log", cpus=cpus, cgroup=None
    )
    try:
        wait_for_listener(service, port, 20)
        running = StartedService(service, "127.0.0.1", Ports(port), {}, {}, cpus)
        return end_with_clients(running, [Send(target=target) for target in targets], 1)
    finally:
        service.stop(0.0)


def test_a_request_in_flight_that_is_answered(tmp_path: Path) -> None:
    found = ended(tmp_path, "graceful", "/", "/slow")
    assert found is not None
    assert (found.in_flight, found.cut, found.killed) == ("/slow", None, False)
    assert 0.2 < found.took_s < 10


def test_a_request_in_flight_that_is_cut(tmp_path: Path) -> None:
    found = ended(tmp_path, "exits", "/", "/slow")
    assert found is not None
    assert found.in_flight == "/slow"
    assert "closed without a response" in (found.cut or "")


def test_without_a_long_request_none_is_in_flight(tmp_path: Path) -> None:
    found = ended(tmp_path, "exits", "/")
    assert found is not None
    assert found.in_flight is None


def test_a_service_of_which_nothing_can_be_asked_is_left_alone(tmp_path: Path) -> None:
    assert ended(tmp_path, "exits") is None


def test_a_service_that_the_lab_may_not_end_keeps_what_is_known_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise EngineError("cannot signal the process: Operation not permitted")

    monkeypatch.setattr(ending, "stop_service", refused)
    assert ended(tmp_path, "graceful", "/") is None


def test_requests_that_may_be_sent_as_they_stand() -> None:
    contract = [
        Check(id="a", says="a", steps=[Send(target="/slow"), Send(target="/x/{counter}"), Send(target="/slow")]),
        Check(id="b", says="b", steps=[Send(target="/made", method="POST", body="x")]),
        # Its header is filled in, and the request behind it has the same target.
        Check(
            id="d",
            says="d",
            steps=[Send(target="/mine", headers={"x": "{env.T}"}), Send(target="/mine", method="POST")],
        ),
        Check(id="c", says="c", steps=[Act(dependency="db", act="stop"), Send(target="/without-db")]),
    ]
    scenario = Scenario.model_validate(
        {
            "schema": 1,
            "name": "s",
            "title": "S",
            "summary": "",
            "ready": {"target": "/ping"},
            "loads": LOADS,
            "contract": [],
        }
    ).model_copy(update={"contract": contract})
    assert [request.target for request in plain_requests(scenario)] == ["/ping", "/slow"]
