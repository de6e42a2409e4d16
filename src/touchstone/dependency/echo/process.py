"""The process of a downstream: the engine's echo, or the exhibit in Python."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.dependency.base import DependencyContext, DependencyError
from touchstone.dependency.echo.control import Control
from touchstone.isolation.process import ServerProcess, StartError, start_process, tail

ENGINE, PYTHON = "engine", "python"
SERVERS = (ENGINE, PYTHON)
_START_S = 30.0


@dataclass(frozen=True)
class DownstreamKind:
    """Which downstream runs, and how slow it is."""

    server: str = ENGINE
    delay_ms: float = 10.0


@dataclass(frozen=True)
class RunningDownstream:
    """One that runs."""

    kind: DownstreamKind
    process: ServerProcess
    address: str
    control: Control


def start_downstream(name: str, kind: DownstreamKind, context: DependencyContext) -> RunningDownstream:
    """Start it on the dependency's CPUs and wait until it says where it listens. Raises DependencyError."""
    context.folder.mkdir(parents=True, exist_ok=True)
    log = context.log_folder / f"{name}.log"
    begin = log.stat().st_size if log.exists() else 0
    try:
        process = start_process(
            _command(kind, context), env={"PATH": os.defpath}, cwd=context.folder, log=log, cpus=context.cpus
        )
    except StartError as error:
        raise DependencyError(f"the downstream: {error.what}", where=error.where, fix=error.fix) from error
    until = time.monotonic() + _START_S
    while time.monotonic() < until and process.exited() is None:
        if line := _announcement(log, begin):
            ready = json.loads(line)
            return RunningDownstream(kind, process, ready["listening"], Control(name, ready["control"]))
        time.sleep(0.005)
    ended = process.exited() or f"did not say within {_START_S:g} s where it listens"
    process.stop()
    raise DependencyError(
        f"the downstream {ended}: {' / '.join(tail(log, 5))}",
        where=f"dependency {name}, log {log}",
        fix="run it by hand: " + " ".join(_command(kind, context)),
    )


def _command(kind: DownstreamKind, context: DependencyContext) -> Sequence[str]:
    if kind.server == PYTHON:
        return [sys.executable, str(Path(__file__).with_name("python_server.py")), f"--delay-ms={kind.delay_ms:g}"]
    return [
        str(context.engine),
        "echo",
        "--port=0",
        f"--delay-ms={kind.delay_ms:g}",
        f"--workers={max(1, len(context.cpus))}",
        *([f"--cpus={','.join(map(str, context.cpus))}"] if context.cpus else []),
    ]


def _announcement(log: Path, begin: int) -> str | None:
    with log.open("rb") as stream:
        stream.seek(begin)
        lines = stream.read().decode(errors="replace").splitlines(keepends=True)
    return next((line for line in lines if '"listening"' in line and line.endswith("\n")), None)
