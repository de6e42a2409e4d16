"""User instructions a request, counted by callgrind: no noise of the machine is in them."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import load
from goal import Goal
from progress import progress
from server import Server


def measure(program: Path) -> list[Goal]:
    """Counts with one request at a time on a connection, and with sixteen."""
    progress("instructions a request")
    return [
        Goal("user instructions a request", _count(program, pipelined=False), 1300, ""),
        Goal("user instructions a request, depth 16", _count(program, pipelined=True), 600, ""),
    ]


def _count(program: Path, *, pipelined: bool) -> float:
    """The difference between a run with load and one without, so that start-up is left out."""
    idle, _ = _run(program, pipelined=pipelined, seconds=0)
    total, requests = _run(program, pipelined=pipelined, seconds=3)
    return (total - idle) / requests


def _run(program: Path, *, pipelined: bool, seconds: int) -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "callgrind.out")
        prefix = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={result}"]
        requests = 0
        with Server(program, prefix) as server:
            if seconds > 0:
                requests = load.run(server.url, connections=100, seconds=seconds, pipelined=pipelined)
        totals = re.search(r"^totals: (\d+)", result.read_text(), re.MULTILINE)
        if totals is None:
            raise subprocess.SubprocessError(f"{result} holds no totals")
        return int(totals.group(1)), requests
