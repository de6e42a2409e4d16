"""Machines of a cluster without one: processes of the engine behind sockets, each as a node's agent would start it."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from touchstone.engine.locate import engine_path
from touchstone.engine.protocol import GeneratorNode


class Machine:
    """A generator: what connects to its socket is a process of its own, for this kind of job."""

    def __init__(
        self, folder: Path, name: str, passing: Callable[[bytes], bytes] | None = None, kind: str = "load"
    ) -> None:
        self.name, self.link, self._passing = name, folder / f"{name}.sock", passing
        self._kind = kind
        self.processes: list[subprocess.Popen[bytes]] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.link))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                command = [str(engine_path()), self._kind, "--worker"]
                out = connection.fileno() if self._passing is None else subprocess.PIPE
                process = subprocess.Popen(command, stdin=connection.fileno(), stdout=out, cwd="/")
                self.processes.append(process)
                if self._passing is None:
                    connection.close()
                else:
                    threading.Thread(target=self._pass_on, args=(process, connection), daemon=True).start()

    def _pass_on(self, process: subprocess.Popen[bytes], connection: socket.socket) -> None:
        assert process.stdout is not None and self._passing is not None  # it was asked for as a pipe
        with contextlib.suppress(OSError), connection:
            for line in process.stdout:
                connection.sendall(self._passing(line))
            connection.sendall(b'{"Failed": "its process ended"}\n')

    def node(self, **changes: Any) -> GeneratorNode:
        """Such a machine in a load job."""
        node: GeneratorNode = {
            "name": self.name,
            "link": str(self.link),
            "cpus": [0],
            "open_files": 1024,
            "clock_ahead_s": 0.0,
            "clock_residual_s": 0.0001,
        }
        return cast("GeneratorNode", {**node, **changes})

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def machines(folder: Path, count: int, kind: str = "load") -> Iterator[list[Machine]]:
    """A number of machines, which end with the context."""
    found = [Machine(folder, f"node-{number}", kind=kind) for number in range(count)]
    try:
        yield found
    finally:
        for machine in found:
            machine.end()
