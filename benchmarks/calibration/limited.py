"""Servers whose capacity is known (limited.c): one to search at once, and a scenario of them for the lab."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from touchstone.contract.values import ValueSource, fresh_of
from touchstone.engine.ask import AskedService
from touchstone.engine.client import run_job
from touchstone.engine.job import watch
from touchstone.isolation.port import free_port
from touchstone.isolation.process import describe_exit
from touchstone.manifest.exchange import Expectation, Request, WeightedRequest
from touchstone.manifest.load import Load
from touchstone.manifest.objective import parse_objective
from touchstone.phase.capacity.contender_search import ContenderSearch, SearchBudget, TrialTarget
from touchstone.record.engine import LoadResult

SOURCE = Path(__file__).with_name("limited.c")
PING = Request(target="/ping", expect=Expectation(body="pong"))
LOAD = Load(
    title="Work",
    connections=256,
    requests=[WeightedRequest(name="work", target="/", expect=Expectation(body="late"))],
)


@cache
def binary() -> Path:
    """The compiled server."""
    out = Path(mkdtemp(prefix="touchstone-limited-")) / "limited"
    subprocess.run(["cc", "-O2", "-o", str(out), str(SOURCE)], check=True)
    return out


@contextmanager
def limited(*words: str) -> Iterator[TrialTarget]:
    """Such a server, until the context ends."""
    port = free_port()
    process = subprocess.Popen([str(binary()), *words], env={**os.environ, "HOST": "127.0.0.1", "PORT": str(port)})
    service, values = AskedService.at("127.0.0.1", port), ValueSource(1)

    def died() -> str | None:
        code = process.poll()
        return None if code is None else describe_exit(code)

    def answers() -> bool:
        return service.exchange(PING, values.next()).status == 200

    try:
        while not answers():
            pass
        yield TrialTarget(
            f"http://127.0.0.1:{port}", watch(process.pid, [], [], after_s=0.0), 1, died=died, answers=answers
        )
    finally:
        process.kill()
        process.wait()


def seat_at(
    target: TrialTarget,
    objective: str,
    *,
    closed_rate: float,
    trial_s: float = 1.0,
    trials: int = 30,
    width: float = 0.03,
) -> ContenderSearch:
    """A seat whose search is open."""
    seat = ContenderSearch(
        name="limited",
        target=target,
        load=LOAD,
        objective=parse_objective(objective),
        pace=SearchBudget(trial_s, trials, width),
        cpus=[],
        seed=1,
        fresh=fresh_of(1),
        put_load=lambda job: run_job("load", job, LoadResult),
    )
    seat.begin(closed_rate)
    return seat


def found(seat: ContenderSearch) -> ContenderSearch:
    """Search to the end."""
    while seat.ended is None:
        seat.step()
    return seat


_SCENARIO = """schema = 1
name = "limited"
title = "Services of known capacity"
summary = "Servers that answer a fixed number of requests a second."
baseline = "tokens"
[ready]
target = "/ping"
expect = { body = "pong" }
[[contract]]
id = "ping"
says = "ping answers pong"
steps = [{ target = "/ping", expect = { body = "pong" } }]
[loads.work]
title = "Work"
connections = 256
requests = [{ name = "work", target = "/", expect = { body = "late" } }]
"""

_STACK = """schema = 1
name = "{name}"
scenario = "limited"
title = "{name}"
language = "C"
[needs]
cc = ">=1"
[variants.plain]
title = "cc -O2"
build = [["cc", "-O2", "-o", "limited", "limited.c"]]
artifacts = ["limited"]
run = {run}
"""


def limited_scenario(folder: Path, servers: Mapping[str, Sequence[str]]) -> Path:
    """The scenario with a stack for each server: its words as limited.c takes them."""
    folder.mkdir(parents=True)
    (folder / "scenario.toml").write_text(_SCENARIO, encoding="utf-8")
    for name, words in servers.items():
        stack = folder / name
        stack.mkdir()
        shutil.copy(SOURCE, stack)
        run = json.dumps(["./limited", *words])
        (stack / "stack.toml").write_text(_STACK.format(name=name, run=run), encoding="utf-8")
    return folder
