"""Memory: at rest, for each idle connection, and after all have closed."""

from __future__ import annotations

import resource
import socket
import statistics
import time
from pathlib import Path

from benchmarks.mote.goal import Goal
from benchmarks.mote.progress import progress
from benchmarks.mote.server import REQUEST, Server

LEVELS = (1_000, 5_000, 10_000, 19_000)
CONNECTIONS_A_SOURCE = 10_000
"""connect() turns slow with more connections from one source address."""


def measure(program: Path, backend: str) -> list[Goal]:
    """Slope, base and what is given back; raises RuntimeError if a connection goes unanswered."""
    progress(f"hold, {backend}: 19,000 idle connections")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with Server(program, backend=backend) as server:
            return _hold(server)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _hold(server: Server) -> list[Goal]:
    time.sleep(0.5)
    base = server.memory("Rss")
    held: list[socket.socket] = []
    readings: list[int] = []
    for level in LEVELS:
        while len(held) < level:
            client = server.connect(f"127.0.0.{1 + len(held) // CONNECTIONS_A_SOURCE}")
            client.sendall(REQUEST)
            if not client.recv(4096).startswith(b"HTTP/1.1 200"):
                raise RuntimeError("a connection was not answered")
            held.append(client)
        time.sleep(0.5)
        readings.append(server.memory("Rss"))
    full = readings[-1]
    for client in held:
        client.close()
    time.sleep(2)
    after = server.memory("Rss")
    slope = statistics.linear_regression(LEVELS, readings).slope
    series = ", ".join(f"{n:,}: {r // 1024:,} kB" for n, r in zip(LEVELS, readings, strict=True))
    return [
        Goal("user memory of an idle connection", slope, 96, "bytes", note=series),
        Goal("base RSS, one worker", base / 1e6, 2, "MB"),
        Goal(
            "memory given back after 19,000 have closed",
            100 * (full - after) / (full - base),
            90,
            "%",
            at_least=True,
            note=f"base {base // 1024:,} kB, full {full // 1024:,} kB, after {after // 1024:,} kB",
        ),
    ]
