"""CPU time a request as a ratio to hyper's, in alternating rounds close together in time."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import load
from build import Programs
from goal import Goal
from progress import progress
from server import Server


@dataclass(frozen=True)
class Case:
    """A load and the ratio that is asked under it."""

    what: str
    connections: int
    pipelined: bool
    bound: float


def measure(programs: Programs, *, rounds: int, seconds: int) -> list[Goal]:
    """The three ratios that mote is held to."""
    goals = []
    for what, connections, pipelined, bound in (
        ("CPU a request, 100 connections", 100, False, 0.62),
        ("CPU a request, 1,000 connections", 1_000, False, 0.58),
        ("CPU a request, 100 connections, depth 16", 100, True, 0.36),
    ):
        progress(f"{what}: {rounds} rounds")
        goals.append(_compare(programs, Case(what, connections, pipelined, bound), rounds, seconds))
    return goals


def _compare(programs: Programs, case: Case, rounds: int, seconds: int) -> Goal:
    def microseconds(server: Server) -> float:
        before = server.cpu_seconds()
        requests = load.run(server.url, connections=case.connections, seconds=seconds, pipelined=case.pipelined)
        return (server.cpu_seconds() - before) / requests * 1e6

    pairs: list[tuple[float, float]] = []
    prefix = load.server_cpu()
    with Server(programs.mote, prefix) as mote, Server(programs.hyper, prefix) as hyper:
        for server in (mote, hyper):
            load.run(server.url, connections=case.connections, seconds=1, pipelined=case.pipelined)
        for number in range(rounds):
            if number % 2 == 0:
                ours = microseconds(mote)
                theirs = microseconds(hyper)
            else:
                theirs = microseconds(hyper)
                ours = microseconds(mote)
            pairs.append((ours, theirs))
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    return Goal(
        case.what,
        statistics.median(ratios),
        case.bound,
        "of hyper's",
        note=f"{ratios[0]:.3f} to {ratios[-1]:.3f}; mote "
        f"{statistics.median(ours for ours, _ in pairs):.2f} us, hyper "
        f"{statistics.median(theirs for _, theirs in pairs):.2f} us",
    )
