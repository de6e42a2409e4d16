"""Clients that take turns: the CPU time of each for one request, call or event, and its ratio to another's.

The server runs on CPU 0 and the client on CPU 1. Clients alternate within a round, in a random order, and ratios are
taken within rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ON_SERVER_CPU, ON_CLIENT_CPU = ("taskset", "-c", "0"), ("taskset", "-c", "1")
"""The words before a command that keep it on its CPU."""
Client = Callable[[], float]
"""Runs once; its CPU seconds for one request, call or event."""


def parser(description: str) -> argparse.ArgumentParser:
    """The options that all scripts have: `--engine` and `--rounds`."""
    found = argparse.ArgumentParser(description=description)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    found.add_argument("--engine", type=Path, default=target / "release" / "touchstone-engine")
    found.add_argument("--rounds", type=int, default=5)
    return found


@contextmanager
def server(
    words: Sequence[str | Path], on: Sequence[str] = ON_SERVER_CPU, **options: Any
) -> Iterator[subprocess.Popen[str]]:
    """A server, with the options of Popen. It ends with the context, whatever happens there."""
    process = subprocess.Popen([*on, *words], text=True, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextmanager
def null_server(engine: Path, *flags: str, on: Sequence[str] = ON_SERVER_CPU) -> Iterator[int]:
    """The port of the engine's null server."""
    with server([engine, "null", "--port", "0", *flags], on, stdout=subprocess.PIPE) as null:
        assert null.stdout is not None  # it was asked for as a pipe
        yield int(json.loads(null.stdout.readline())["listening"].rpartition(":")[2])


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


def cpu(words: Sequence[str | Path], number: str, times: int = 1) -> float:
    """CPU seconds of a client's whole process for one response or event.

    The pattern `number` finds in its output how many responses came, each with `times` events.
    """
    child = subprocess.Popen([*ON_CLIENT_CPU, *words], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None  # it was asked for as a pipe
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    found = re.search(number, text)
    if child.returncode or found is None or not int(found[1]):
        sys.exit(f"{' '.join(map(str, words))} failed, or got no response: {text[:500]}")
    return (usage.ru_utime + usage.ru_stime) / (int(found[1]) * times)


def in_turns(clients: Mapping[str, Client], rounds: int) -> dict[str, list[float]]:
    """What the clients cost, by name: a value a round."""
    costs: dict[str, list[float]] = {name: [] for name in clients}
    for _ in range(rounds):
        for name in random.sample(list(clients), len(clients)):
            costs[name].append(clients[name]())
    return costs


@dataclass(frozen=True)
class Ratio:
    """A client's cost as a ratio to another's, by round."""

    rounds: Sequence[float]

    @classmethod
    def of(cls, own: Sequence[float], other: Sequence[float]) -> Ratio:
        """The ratio of costs that were taken in the same rounds."""
        return cls([mine / its for mine, its in zip(own, other, strict=True)])

    @property
    def median(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.rounds)

    def __str__(self) -> str:
        """The median, with the least and the greatest."""
        return f"{self.median:.3f} ({min(self.rounds):.3f} to {max(self.rounds):.3f})"
