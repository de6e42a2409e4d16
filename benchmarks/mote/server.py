"""A server under measurement: one worker, on a CPU of its own where there are two."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

START_LIMIT = 30.0
"""Seconds; valgrind needs some."""

BACKENDS = ("epoll", "io_uring")
"""Backends of mote."""

REQUEST = b"GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Server(AbstractContextManager["Server"]):
    """Starts `program` on a free port and ends it on exit.

    `{port}` in an argument stands for the port, which the environment has too; `backend` is for mote alone.
    """

    def __init__(
        self, program: Path, prefix: Sequence[str] = (), backend: str = "automatic", arguments: Sequence[str] = ()
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        environment = dict(os.environ, HOST="127.0.0.1", PORT=str(self.port), WORKERS="1", MOTE_BACKEND=backend)
        words = [argument.replace("{port}", str(self.port)) for argument in arguments]
        self._process = subprocess.Popen(
            [*prefix, str(program), *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._wait_until_it_listens()

    @property
    def pid(self) -> int:
        """The server's, or valgrind's in its place."""
        return self._process.pid

    @property
    def url(self) -> str:
        """URL of the one resource."""
        return f"http://127.0.0.1:{self.port}/hello"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        # valgrind holds a signal back while the server waits in io_uring_enter, which a client ends.
        with contextlib.suppress(OSError):
            self.connect().close()
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def cpu_seconds(self) -> float:
        """CPU time of all threads so far, from the scheduler's nanosecond counters."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def memory(self, name: str) -> int:
        """Bytes of "Rss", "Pss" or "Anonymous", summed over the mappings (not the rough counter)."""
        for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
        raise LookupError(f"smaps_rollup has no {name}")

    def connect(self, source: str = "127.0.0.1") -> socket.socket:
        """Opens a connection from a loopback address."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=10, source_address=(source, 0))

    def _wait_until_it_listens(self) -> None:
        deadline = time.monotonic() + START_LIMIT
        while True:
            try:
                self.connect().close()
                return
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError(f"{self._process.args!r} does not listen") from None
                time.sleep(0.05)
