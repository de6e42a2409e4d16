"""User instructions per request, counted by callgrind: no noise of the machine is in them."""

from __future__ import annotations

import re
import socket
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.mote.goal import Goal
from benchmarks.mote.progress import progress
from benchmarks.mote.server import REQUEST, Server

CONNECTIONS = 100
ROUNDS_LESS = 2
ROUNDS_MORE = 32


def measure(program: Path, backend: str) -> list[Goal]:
    """Counts with one request at a time on a connection, and with sixteen."""
    progress(f"{backend}: instructions per request")
    return [
        Goal("user instructions per request", _count(program, backend, depth=1), 1300, ""),
        Goal("user instructions per request, depth 16", _count(program, backend, depth=16), 600, ""),
    ]


def _count(program: Path, backend: str, *, depth: int) -> float:
    """The difference between a long and a short run, which leaves out the start and connecting."""
    more = _run(program, backend, depth=depth, rounds=ROUNDS_MORE)
    less = _run(program, backend, depth=depth, rounds=ROUNDS_LESS)
    return (more - less) / ((ROUNDS_MORE - ROUNDS_LESS) * CONNECTIONS * depth)


def _run(program: Path, backend: str, *, depth: int, rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "callgrind.out")
        prefix = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={result}"]
        with Server(program, prefix, backend) as server:
            _load(server, depth=depth, rounds=rounds)
        totals = re.search(r"^totals: (\d+)", result.read_text(), re.MULTILINE)
        if totals is None:
            raise RuntimeError("callgrind has counted nothing: see whether valgrind works here")
        return int(totals.group(1))


def _load(server: Server, *, depth: int, rounds: int) -> None:
    """In each round every connection sends `depth` requests at once and takes their answers."""
    with ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(CONNECTIONS)]
        size = len(_answer(clients[0]))
        for _ in range(rounds):
            for client in clients:
                client.sendall(REQUEST * depth)
            for client in clients:
                left = size * depth
                while left > 0:
                    left -= len(_received(client))


def _answer(client: socket.socket) -> bytes:
    client.sendall(REQUEST)
    answer = _received(client)
    if not answer.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"the answer is not a 200: {answer[:80]!r}")
    return answer


def _received(client: socket.socket) -> bytes:
    piece = client.recv(65536)
    if not piece:
        raise RuntimeError("the server has closed a connection")
    return piece
