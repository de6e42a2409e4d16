"""Several generators as one: load processes behind sockets, each as a node of a cluster would have it."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.request import Request, urlopen

import pytest

from touchstone.bench.tare import server
from touchstone.engine.client import EngineError, Event, run_job
from touchstone.engine.locate import engine_path
from touchstone.engine.protocol import GeneratorNode, LoadJob
from touchstone.record.engine import LoadResult


class Machine:
    """A generator: what connects to its socket is a load process of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name, self.link = name, folder / f"{name}.sock"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.link))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                command = [str(engine_path()), "load", "--worker"]
                self.processes.append(subprocess.Popen(command, stdin=connection.fileno(), stdout=connection.fileno()))
                connection.close()

    def node(self, **changes: Any) -> GeneratorNode:
        node: GeneratorNode = {
            "name": self.name,
            "link": str(self.link),
            "cpus": [0],
            "open_files": 1024,
            "clock_ahead_s": 0.0,
            "clock_residual_s": 0.0001,
        }
        return cast("GeneratorNode", {**node, **changes})

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def machines(folder: Path, count: int) -> Iterator[list[Machine]]:
    found = [Machine(folder, f"node-{number}") for number in range(count)]
    try:
        yield found
    finally:
        for machine in found:
            machine.end()


def load(url: str, nodes: list[GeneratorNode], **changes: Any) -> LoadJob:
    job: LoadJob = {
        "url": url,
        "connections": 7,
        "threads": len(nodes),
        "warmup_s": 0.2,
        "duration_s": 1.0,
        "series_interval_s": 0.1,
        "requests": [{"target": "/echo?id={counter}"}],
        "generators": nodes,
    }
    return cast("LoadJob", {**job, **changes})


def echo_stats(address: str) -> Any:
    with urlopen(f"http://{address}/_stats", timeout=5) as answer:
        return json.load(answer)


def test_rate_connections_and_counters_are_divided_exactly(tmp_path: Path) -> None:
    with server("echo", ["--delay-ms=0"], [0]) as echo, machines(tmp_path, 3) as found:
        urlopen(Request(f"http://{echo['listening']}/_reset", method="POST"), timeout=5).close()
        job = load(
            f"http://{echo['listening']}",
            [machine.node() for machine in found],
            loop={"kind": "open", "rate": 300.0},
        )
        result = run_job("load", job, LoadResult)
        ids = echo_stats(echo["listening"])["ids"]
    assert [part.name for part in result.generators] == ["node-0", "node-1", "node-2"]
    assert [part.connections for part in result.generators] == [3, 2, 2]
    assert result.counts.sent == 300 == sum(part.sent for part in result.generators)
    assert max(part.sent for part in result.generators) - min(part.sent for part in result.generators) <= 1
    assert ids["duplicates"] == 0 and ids["distinct"] == result.totals.sent
    assert result.latency.count == result.counts.ok == result.requests[0].latency.count
    # The series of all, on one clock: no interval of the window lacks a generator's part.
    window = [point.sent for point in result.series if point.phase == "load"]
    assert sum(window) == 300 and all(sent > 0 for sent in window)


def test_a_clock_that_is_ahead_is_brought_home(tmp_path: Path) -> None:
    """The generator is told that its clock is ahead by 0.2 s, which it is not: so it begins that much later."""
    with server("null", [], [0]) as null, machines(tmp_path, 2) as found:
        nodes = [found[0].node(), found[1].node(clock_ahead_s=0.2)]
        result = run_job("load", load(f"http://{null['listening']}", nodes), LoadResult)
    assert result.window.measured_s == pytest.approx(1.0, abs=1e-6)
    # It starts late by our clock, on time by its own, and its report is moved back: nothing of the shift is left.
    assert all(part.began_s < 0.1 for part in result.generators)
    assert result.generators[1].clock_ahead_s == 0.2
    assert result.counts.sent == sum(part.sent for part in result.generators)


def test_a_lost_generator_ends_the_window_and_is_named(tmp_path: Path) -> None:
    with server("null", [], [0]) as null, machines(tmp_path, 2) as found:

        def end_one(event: Event) -> None:
            if event.get("event") == "phase" and event.get("name") == "load":
                found[1].processes[0].kill()

        job = load(f"http://{null['listening']}", [machine.node() for machine in found], duration_s=60.0)
        begun = time.monotonic()
        with pytest.raises(EngineError, match="generator node-1"):
            run_job("load", job, LoadResult, on_event=end_one)
        assert time.monotonic() - begun < 30, "the others went on to the end of the window"


def test_a_generator_that_is_not_there_is_named(tmp_path: Path) -> None:
    with server("null", [], [0]) as null, machines(tmp_path, 1) as found:
        nodes = [found[0].node(), found[0].node(name="nowhere", link=str(tmp_path / "none"))]
        with pytest.raises(EngineError, match="reaching generator nowhere"):
            run_job("load", load(f"http://{null['listening']}", nodes), LoadResult)
