"""Connections that other machines hold: each an equal part, as far as their ports and files reach."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import pytest

from tests.engine.machines import Machine, machines
from touchstone.engine.client import EngineError, Event, run_job
from touchstone.engine.protocol import HoldJob, HoldNode
from touchstone.record.hold_result import HoldResult
from touchstone.traffic.null_server import EngineServer, server


def node(one: Machine, ports: int = 1000, open_files: int = 1000) -> HoldNode:
    return {"name": one.name, "link": str(one.link), "cpus": [0], "open_files": open_files, "ports": ports}


def job(null: EngineServer, nodes: list[HoldNode], levels: list[int], settle_s: float = 0.1) -> HoldJob:
    return {
        "url": f"{null.url}/",
        "levels": levels,
        "watch": [null.pid],
        "settle_s": settle_s,
        "after_close_s": 0.1,
        "generators": nodes,
    }


def connections(pid: int) -> int:
    """Sockets that a process has open."""
    folder = Path(f"/proc/{pid}/fd")
    found = 0
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # It was closed meanwhile.
            found += str(path.readlink()).startswith("socket:")
    return found


def test_each_machine_holds_an_equal_part(tmp_path: Path) -> None:
    most: dict[str, int] = {}
    over = threading.Event()

    def look(found: list[Machine]) -> None:
        while not over.wait(0.02):
            for one in found:
                for process in one.processes:
                    most[one.name] = max(most.get(one.name, 0), connections(process.pid))

    with server("null", [], [0]) as null, machines(tmp_path, 2, "hold") as found:
        watcher = threading.Thread(target=look, args=(found,))
        watcher.start()
        result = run_job("hold", job(null, [node(one) for one in found], [0, 100, 401], settle_s=1.0), HoldResult)
        over.set()
        watcher.join()
    assert [level.held for level in result.levels] == [0, 100, 401] == [level.answered for level in result.levels]
    assert result.processes == 2
    assert most["node-0"] - most["node-1"] == 1, "201 and 200, next to what each process has anyhow"
    assert most["node-1"] >= 200


def test_files_ask_for_more_processes_and_ports_end_the_climb(tmp_path: Path) -> None:
    with server("null", [], [0]) as null, machines(tmp_path, 2, "hold") as found:
        nodes = [node(one, ports=260, open_files=250) for one in found]
        result = run_job("hold", job(null, nodes, [0, 500, 600]), HoldResult)
        assert [len(one.processes) for one in found] == [2, 2], "150 connections fit into one"
    assert [level.held for level in result.levels] == [0, 500, 500]
    refused = result.levels[-1].refused
    assert refused is not None and "2 generators have ports for 520 connections" in refused.reason


def test_a_machine_that_is_lost_is_named(tmp_path: Path) -> None:
    with server("null", [], [0]) as null, machines(tmp_path, 2, "hold") as found:

        def end_one(event: Event) -> None:
            if event.get("event") == "level" and event.get("connections") == 100:
                found[1].processes[0].kill()

        with pytest.raises(EngineError, match="generator node-1, which holds a share of the connections"):
            run_job("hold", job(null, [node(one) for one in found], [0, 100, 200, 300]), HoldResult, on_event=end_one)
