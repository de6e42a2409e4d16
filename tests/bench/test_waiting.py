"""While a contender starts, its answers are reported; a lasting wrong answer ends the wait."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.phase.test_peak import Quiet, bench_of
from touchstone.bench import waiting
from touchstone.bench.base import Bench, Ports
from touchstone.isolation.port import free_port
from touchstone.isolation.process import ServerProcess, StartError, start_process
from touchstone.manifest.spoken import SpokenProtocol

SERVER = """
import http.server, os, time

class Handler(http.server.BaseHTTPRequestHandler):
    start = time.monotonic()
    def do_GET(self):
        late = time.monotonic() - self.start > float(os.environ.get("RIGHT_AFTER_S", "1e9"))
        body = b"pong" if late else b"starting"
        self.send_response(200 if late else int(os.environ["STATUS"]))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

http.server.HTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
"""


class Listening(Quiet):
    """Keeps the reported answers."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        """Keep it."""
        self.said.append(text)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(waiting, "SETTLED_AFTER_S", 2.0)
    monkeypatch.setattr(waiting, "_TOLD_AFTER_S", 0.2)
    return replace(bench_of(tmp_path), watcher=Listening())


@contextmanager
def started(bench: Bench, server: str = SERVER, **env: str) -> Iterator[tuple[ServerProcess, int]]:
    port = free_port()
    whole = {**os.environ, "HOST": bench.generators.host, "PORT": str(port), **env}
    process = start_process(
        [sys.executable, "-c", server], env=whole, cwd=bench.scratch, log=bench.scratch / "server.log"
    )
    try:
        yield process, port
    finally:
        process.stop(1.0)


def said(bench: Bench) -> str:
    assert isinstance(bench.watcher, Listening)
    return "\n".join(bench.watcher.said)


def test_a_404_that_stays_the_same_ends_the_wait(bench: Bench) -> None:
    with started(bench, STATUS="404") as (process, port), pytest.raises(StartError) as caught:
        waiting.wait_until_ready(bench, process, Ports(port), 60.0)
    message = str(caught.value)
    for part in ("GET /ping", "status 404, expected 200", "has done so for 2 s", "starting", "server.log"):
        assert part in message
    assert "status 404, expected 200" in said(bench)


@pytest.mark.parametrize(
    ("spoken", "words"),
    [
        (SpokenProtocol("h2c"), "does not speak it: no answer: no HTTP/2"),
        (SpokenProtocol("h1", tls=True), "does not speak it: no answer"),
        (SpokenProtocol("h2", tls=True), "does not speak it: no answer"),
    ],
)
def test_a_server_that_speaks_something_else_is_named_soon(bench: Bench, spoken: SpokenProtocol, words: str) -> None:
    with started(bench) as (process, port), pytest.raises(StartError, match=words):
        waiting.wait_until_ready(bench, process, Ports(port), 60.0, spoken)


def test_a_503_may_become_right_and_is_told_meanwhile(bench: Bench) -> None:
    with started(bench, STATUS="503", RIGHT_AFTER_S="4") as (process, port):
        waiting.wait_until_ready(bench, process, Ports(port), 60.0)
    assert said(bench).count("status 503, expected 200") == 1


def test_a_503_that_stays_is_waited_for_to_the_end(bench: Bench) -> None:
    with (
        started(bench, STATUS="503") as (process, port),
        pytest.raises(StartError, match="within 4 s; last: status 503"),
    ):
        waiting.wait_until_ready(bench, process, Ports(port), 4.0)


def test_a_start_that_takes_too_long_names_the_key_and_how_busy_the_machine_was(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_CROWDED", 0.0)
    working = "end = __import__('time').monotonic() + 60\nwhile __import__('time').monotonic() < end: pass\n"
    with started(bench, working) as (process, port), pytest.raises(StartError) as caught:
        waiting.wait_until_ready(bench, process, Ports(port), 1.0)
    message = str(caught.value)
    found = re.search(r"within 1 s; .* CPUs were (\d+)% busy, (\d+)% of their time with the server", message)
    assert found, message
    assert 0 < int(found[2]) <= int(found[1]) <= 100
    assert "`within_s` of [ready] in scenario.toml" in message
    assert "server.log" in message


def test_a_server_that_ends_names_its_log(bench: Bench) -> None:
    with started(bench, STATUS="404", HOST="no such host") as (process, port), pytest.raises(StartError) as caught:
        waiting.wait_until_ready(bench, process, Ports(port), 60.0)
    assert "exited with code 1 before it was ready" in str(caught.value)
    assert "server.log" in str(caught.value)
    assert "socket.gaierror" in "\n".join(process.tail())


def test_a_server_that_ends_for_want_of_a_variable_is_told_that_its_environment_is_bare(bench: Bench) -> None:
    with started(bench, STATUS="404", HOST="no such host") as (process, port), pytest.raises(StartError) as caught:
        waiting.wait_until_ready(bench, process, Ports(port), 60.0)
    assert "`env` in its stack.toml" in str(caught.value)


@pytest.mark.parametrize(
    "server",
    [
        "import no_such_module",
        "import sys; sys.exit(\"Error: Cannot find module 'express'\")",
        "import os; os.execv('/bin/sh', ['sh', '-c', '.venv/bin/python -m app'])",
        "import sys; sys.exit('/bin/sh: 1: .venv/bin/python: not found')",
    ],
)
def test_a_server_that_lacks_a_program_or_a_module_is_told_what_brings_it(bench: Bench, server: str) -> None:
    with started(bench, server) as (process, port), pytest.raises(StartError) as caught:
        waiting.wait_until_ready(bench, process, Ports(port), 60.0)
    for part in ("`install` or `build` in its stack.toml", "`artifacts`", "server.log"):
        assert part in str(caught.value)
    assert "bare" not in str(caught.value)


def test_a_server_on_another_port_is_told_long_before_the_wait_is_over(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_SOUGHT_AFTER_S", 1.0)
    other = free_port()
    with started(bench, STATUS="404", PORT=str(other)) as (process, port), pytest.raises(StartError) as caught:
        waiting.wait_until_ready(bench, process, Ports(port), 3.0)
    assert f"  waiting: the server listens on port {other} instead of {port}" in said(bench)
    assert "{port} in `run` or `env`" in str(caught.value)


def test_a_server_that_rests_on_another_port_is_not_waited_for_any_longer(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_SOUGHT_AFTER_S", 0.5)
    monkeypatch.setattr(waiting, "_LOOKED_EVERY_S", 0.5)
    with started(bench, STATUS="404", PORT=str(free_port())) as (process, port):
        begun = time.monotonic()
        with pytest.raises(StartError, match="instead of"):
            waiting.wait_until_ready(bench, process, Ports(port), 600.0)
        assert time.monotonic() - begun < 300.0


def test_a_server_that_opens_its_port_for_administration_first_is_waited_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_SOUGHT_AFTER_S", 0.3)
    monkeypatch.setattr(waiting, "_LOOKED_EVERY_S", 0.2)
    # It works for longer than a resting server would be waited for, before it opens its own port.
    administration = "import socket, time\nadmin = socket.create_server(('127.0.0.1', 0))\n"
    working = "end = time.process_time() + 3.0\nwhile time.process_time() < end: pass\n"
    with started(bench, administration + working + SERVER, STATUS="200", RIGHT_AFTER_S="0") as (process, port):
        waiting.wait_until_ready(bench, process, Ports(port), 120.0)
    assert "waiting: the server listens on port" in said(bench)


def test_a_server_on_another_address_is_named_with_it(bench: Bench) -> None:
    with started(bench, STATUS="404", HOST="127.0.0.2") as (process, port), pytest.raises(StartError) as caught:
        waiting.wait_until_ready(bench, process, Ports(port), 3.0)
    assert f"listens on 127.0.0.2:{port}, which cannot be reached at 127.0.0.1" in str(caught.value)
    assert "HOST" in str(caught.value)


def test_a_server_that_leaves_the_foreground_is_told_to_stay_there(bench: Bench) -> None:
    leaving = f"import os\nif os.fork(): os._exit(0)\nos.setsid()\n{SERVER}"
    with started(bench, leaving, STATUS="200") as (process, port), pytest.raises(StartError) as caught:
        waiting.wait_until_ready(bench, process, Ports(port), 60.0)
    assert "exited with code 0 before it was ready, and left" in str(caught.value)
    assert "foreground" in str(caught.value)
    assert not process.left_behind()


def test_a_port_of_grpc_that_never_opens_is_named_with_its_variable(bench: Bench) -> None:
    closed = free_port()
    with started(bench, STATUS="200", RIGHT_AFTER_S="0") as (process, port), pytest.raises(StartError) as caught:
        waiting.wait_until_ready(bench, process, Ports(port, closed), 2.0)
    assert f"is ready, but did not listen on its grpc_port {closed}" in caught.value.what
    assert "GRPC_PORT" in str(caught.value.fix)
