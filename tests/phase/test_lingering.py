"""Clients that keep their connections while a service is asked to end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from touchstone.manifest.contract import Act, Check, Send
from touchstone.manifest.scenario import Scenario
from touchstone.phase.verify.lingering import Lingering, plain_requests
from touchstone.record.process import Ending

LOADS = {"a": {"title": "A", "connections": 1, "requests": [{"name": "a", "target": "/"}]}}
_SERVER = """
import os, signal, socket, sys, threading, time
listener = socket.create_server(("127.0.0.1", 0))
flying = set()

def serve(client):
    while True:
        head = b""
        while b"\\r\\n\\r\\n" not in head:
            if not (part := client.recv(4096)):
                return
            head += part
        if head.startswith(b"GET /slow"):
            flying.add(client)
            time.sleep(0.6)
        client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
        flying.discard(client)

def end(*_):
    while sys.argv[1] == "finishes" and flying:
        time.sleep(0.01)
    os._exit(0)

signal.signal(signal.SIGTERM, end)
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


@contextmanager
def service(how: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    with subprocess.Popen([sys.executable, "-c", _SERVER, how], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}", process
        process.send_signal(signal.SIGTERM)


def ended(how: str, *targets: str) -> Ending:
    with Lingering() as clients, service(how) as (url, _):
        clients.stay(url, [Send(target=target) for target in targets])
    assert clients.ending is not None
    return clients.ending


def test_a_request_in_flight_that_is_answered() -> None:
    ending = ended("finishes", "/", "/slow")
    assert (ending.in_flight, ending.cut) == ("/slow", None)
    assert 0.4 < ending.took_s < 10
    assert not ending.killed


def test_a_request_in_flight_that_is_cut() -> None:
    ending = ended("cuts", "/", "/slow")
    assert ending.in_flight == "/slow"
    assert "closed" in (ending.cut or "") or "reset" in (ending.cut or "")


def test_without_a_long_request_none_is_in_flight() -> None:
    assert ended("cuts", "/").in_flight is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:1"])
def test_a_service_that_does_not_answer_has_no_clients_that_stay(url: str) -> None:
    with Lingering() as clients:
        clients.stay(url, [Send(target="/")])
    assert clients.ending is None


def test_requests_that_may_be_sent_as_they_stand() -> None:
    contract = [
        Check(id="a", says="a", steps=[Send(target="/slow"), Send(target="/x/{counter}"), Send(target="/slow")]),
        Check(id="b", says="b", steps=[Send(target="/made", method="POST", body="x")]),
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
