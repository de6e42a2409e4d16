"""A server whose capacity is known, and a seat of the search at it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from touchstone.contract.template import ValueSource
from touchstone.contract.wire import Service
from touchstone.engine.client import run_job
from touchstone.isolation.port import free_port
from touchstone.isolation.process import describe_exit
from touchstone.manifest.exchange import Expectation, Request, WeightedRequest
from touchstone.manifest.load import Load
from touchstone.manifest.objective import parse_objective
from touchstone.phase.capacity.seat import Pace, Seat, Target
from touchstone.record.engine import LoadResult

SOURCE = Path(__file__).resolve().parents[2] / "benchmarks" / "calibration" / "limited.c"
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
def limited(*words: str) -> Iterator[Target]:
    """Such a server, until the context ends."""
    port = free_port()
    process = subprocess.Popen([str(binary()), *words], env={**os.environ, "HOST": "127.0.0.1", "PORT": str(port)})
    service, values = Service("127.0.0.1", port), ValueSource(1)

    def died() -> str | None:
        code = process.poll()
        return None if code is None else describe_exit(code)

    def answers() -> bool:
        return service.exchange(PING, values.next()).status == 200

    try:
        while not answers():
            pass
        yield Target(f"http://127.0.0.1:{port}", process.pid, [], 1, died, answers)
    finally:
        process.kill()
        process.wait()


def seat_at(
    target: Target, objective: str, *, closed_rate: float, trial_s: float = 1.0, trials: int = 30, width: float = 0.03
) -> Seat:
    """A seat whose search is open."""
    seat = Seat(
        name="limited",
        target=target,
        load=LOAD,
        objective=parse_objective(objective),
        pace=Pace(trial_s, trials, width),
        cpus=[],
        seed=1,
        server_cpus=[],
        put_load=lambda job: run_job("load", job, LoadResult),
    )
    seat.begin(closed_rate)
    return seat


def found(seat: Seat) -> Seat:
    """Search to the end."""
    while seat.ended is None:
        seat.step()
    return seat
