"""The engine's own servers: what a tare is measured against."""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from touchstone.engine.client import EngineError
from touchstone.engine.job import watch
from touchstone.engine.locate import engine_path
from touchstone.engine.protocol import Watch
from touchstone.isolation.child import end_child, start_child

_PATIENCE_S = 10.0


@dataclass(frozen=True)
class EngineServer:
    """One that runs, and answers at `url`."""

    url: str
    pid: int

    @property
    def watch(self) -> Watch:
        """What the engine samples next to a load on it."""
        return watch(self.pid, [], [], after_s=0.0)


@contextmanager
def server(kind: str, arguments: Sequence[str], cpus: Sequence[int], host: str = "127.0.0.1") -> Iterator[EngineServer]:
    """One of the engine's own servers, on a free port. Raises EngineError."""
    command = [str(engine_path()), kind, f"--host={host}", "--port=0", f"--cpus={','.join(map(str, cpus))}", *arguments]
    process = start_child(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None  # it was asked for as a pipe
        ready, _, _ = select.select([process.stdout], [], [], _PATIENCE_S)
        line = process.stdout.readline() if ready else ""
        if not line:
            raise EngineError(f"the engine's {kind} server did not start", fix="run it by hand: " + " ".join(command))
        said = json.loads(line)
        yield EngineServer(f"http://{said['listening']}", int(said["pid"]))
    finally:
        end_child(process)
