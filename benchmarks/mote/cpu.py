"""CPU time per request as a ratio to hyper's, in alternating rounds close together in time."""

from __future__ import annotations

import statistics
from contextlib import ExitStack
from dataclasses import dataclass

from benchmarks.mote import load
from benchmarks.mote.build import Programs
from benchmarks.mote.goal import Goal
from benchmarks.mote.progress import progress
from benchmarks.mote.server import BACKENDS, Server

HYPER = "hyper"
FLOOR = "floor"
"""Benchmarks of the engine have it: a responder that parses nothing and looks at nothing."""


@dataclass(frozen=True)
class Case:
    """A load and the ratio that is asked under it."""

    what: str
    connections: int
    pipelined: bool
    bound: float


def measure(programs: Programs, *, rounds: int, seconds: int) -> list[Goal]:
    """The three ratios that mote is held to, for each of its backends."""
    goals = []
    for what, connections, pipelined, bound in (
        ("CPU per request, 100 connections", 100, False, 0.62),
        ("CPU per request, 1,000 connections", 1_000, False, 0.58),
        ("CPU per request, 100 connections, depth 16", 100, True, 0.36),
    ):
        progress(f"{what}: {rounds} rounds")
        goals.extend(_compare(programs, Case(what, connections, pipelined, bound), rounds, seconds))
    return goals


def _compare(programs: Programs, case: Case, rounds: int, seconds: int) -> list[Goal]:
    def microseconds(server: Server) -> float:
        before = server.cpu_seconds()
        requests = load.run(server.url, connections=case.connections, seconds=seconds, pipelined=case.pipelined)
        return (server.cpu_seconds() - before) / requests * 1e6

    readings: list[dict[str, float]] = []
    prefix = load.server_cpu()
    with ExitStack() as stack:
        servers = {backend: stack.enter_context(Server(programs.mote, prefix, backend)) for backend in BACKENDS}
        servers[HYPER] = stack.enter_context(Server(programs.hyper, prefix))
        words = ("server", "{port}", "Hello, world!")
        servers[FLOOR] = stack.enter_context(Server(programs.floor, prefix, arguments=words))
        for server in servers.values():
            load.run(server.url, connections=case.connections, seconds=1, pipelined=case.pipelined)
        names = list(servers)
        for _ in range(rounds):
            readings.append({name: microseconds(servers[name]) for name in names})
            names.reverse()
    return [_goal(case, backend, readings) for backend in BACKENDS]


def _goal(case: Case, backend: str, readings: list[dict[str, float]]) -> Goal:
    """The median of the rounds' ratios; the note has the microseconds, and what the floor reaches on this machine."""

    def typical(name: str) -> float:
        return statistics.median(reading[name] for reading in readings)

    def ratios_of(name: str) -> list[float]:
        return sorted(reading[name] / reading[HYPER] for reading in readings)

    ratios = ratios_of(backend)
    return Goal(
        f"{case.what}, {backend}",
        statistics.median(ratios),
        case.bound,
        "of hyper's",
        note=(
            f"{ratios[0]:.3f} to {ratios[-1]:.3f}; mote {typical(backend):.2f} us, hyper {typical(HYPER):.2f} us; "
            f"floor {statistics.median(ratios_of(FLOOR)):.3f} of hyper's, {typical(FLOOR):.2f} us"
        ),
    )
