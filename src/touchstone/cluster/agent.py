"""What touchstone has on each node: an actor that keeps what was shipped there, and starts processes of it.

Its code goes to the node with the actor, so it stands by itself: a generator needs Ray, and nothing of touchstone.
"""

from __future__ import annotations

import io
import os
import platform
import queue
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

_BLOCK = bytes(1 << 20)


class Agent:
    """A node, as touchstone commands it. Its methods may be called at once, each on a thread of its own."""

    def __init__(self) -> None:
        self._workers: dict[str, _LineProcess] = {}
        self._engine: Path | None = None

    def facts(self) -> dict[str, Any]:
        """What the node is: CPUs, kernel, limits of open files and ports, free bytes for the engine."""
        return {
            "cpus": sorted(os.sched_getaffinity(0)),
            "model": _cpu_model(),
            "machine": platform.machine(),
            "kernel": platform.release(),
            "python": platform.python_version(),
            "open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[1],
            "ports": _ports(),
            "disk_free": shutil.disk_usage(_shelf().parent).free,
        }

    def clock_s(self) -> float:
        """CLOCK_MONOTONIC now."""
        return time.monotonic()

    def has_engine(self, digest: str) -> bool:
        """Whether an engine of this SHA-256 is there. It is the one that is used from now on."""
        path = _shelf() / digest / "touchstone-engine"
        self._engine = path if os.access(path, os.X_OK) else None
        return self._engine is not None

    def take_engine(self, digest: str, program: bytes) -> None:
        """Keep an engine under its SHA-256. Raises OSError, such as for a full disk."""
        folder = _shelf() / digest
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f".{os.getpid()}.partial"
        try:
            partial.write_bytes(program)
            partial.chmod(0o755)
            partial.rename(folder / "touchstone-engine")
        finally:
            partial.unlink(missing_ok=True)
        self.has_engine(digest)

    def start(self, worker: str, kind: str) -> None:
        """Start an engine process for a share of a `load` or `hold` job, by name."""
        assert self._engine is not None  # it was given before
        self._workers[worker] = _LineProcess([str(self._engine), kind, "--worker"])

    def tell(self, worker: str, orders: str) -> None:
        """Give it orders, each a line."""
        self._workers[worker].tell(orders)

    def listen(self, worker: str, wait_s: float) -> tuple[str, str | None]:
        """Its output lines within this time, and how it ended, if it has."""
        return self._workers[worker].listen(wait_s)

    def close(self, worker: str) -> None:
        """Say that no order follows: a process that still works ends its work."""
        if process := self._workers.get(worker):
            process.close()

    def end(self, worker: str) -> None:
        """End it, whatever it does."""
        if process := self._workers.pop(worker, None):
            process.end()

    def has_lab(self, digest: str) -> str | None:
        """Where an archive of this SHA-256 was unpacked; None if it was not."""
        home = _shelf() / digest
        return str(home) if (home / "whole").exists() else None

    def take_lab(self, digest: str, archive: bytes) -> str:
        """Unpack an archive under its SHA-256; where. Raises OSError, such as for a full disk."""
        home = _shelf() / digest
        shutil.rmtree(home, ignore_errors=True)
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            packed.extractall(home, filter="data")
        (home / "whole").touch()
        return str(home)

    def start_lab(self, worker: str, home: str, words: list[str], environment: dict[str, str]) -> None:
        """Start a Python program in a folder; its output is read like a load process's."""
        whole = {**os.environ, **environment}
        self._workers[worker] = _LineProcess([sys.executable, *words], env=whole, cwd=home, stderr=subprocess.STDOUT)

    def interrupt(self, worker: str) -> None:
        """Ctrl-C."""
        self._workers[worker].interrupt()

    def code(self, worker: str) -> int:
        """Its exit code, when it has ended."""
        return self._workers[worker].code()

    def give(self, folder: str) -> bytes:
        """A folder as an archive, removed here; empty if there is none."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            if Path(folder).is_dir():
                archive.add(folder, arcname=".")
        shutil.rmtree(folder, ignore_errors=True)
        return buffer.getvalue()

    def receive(self, host: str) -> int:
        """Open a port that swallows what is sent to it once; the port."""
        listener = socket.create_server((host, 0))
        threading.Thread(target=_swallow, args=(listener,), daemon=True).start()
        return int(listener.getsockname()[1])

    def send(self, host: str, port: int, seconds: float) -> float:
        """Send for so long to such a port: bytes per second."""
        begun, sent = time.monotonic(), 0
        with socket.create_connection((host, port), timeout=5) as connection:
            while time.monotonic() - begun < seconds:
                connection.sendall(_BLOCK)
                sent += len(_BLOCK)
        return sent / (time.monotonic() - begun)


class _LineProcess:
    """A process that is driven by lines. When this actor ends, the process's input ends, and so a load process."""

    def __init__(self, command: list[str], **options: Any) -> None:
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - It lives as long as this.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            **{"stderr": self._complaints, **options},
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def tell(self, orders: str) -> None:
        assert self._process.stdin is not None  # it was asked for as a pipe
        try:
            self._process.stdin.write(orders.encode())
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # `listen` reports how it ended.

    def listen(self, wait_s: float) -> tuple[str, str | None]:
        lines = []
        try:
            lines.append(self._lines.get(timeout=wait_s))
            while True:
                lines.append(self._lines.get_nowait())
        except queue.Empty:
            pass
        over = not self._reader.is_alive() and self._lines.empty()
        return b"".join(lines).decode(), self._how_it_ended() if over else None

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def code(self) -> int:
        return self._process.wait()

    def end(self) -> None:
        self.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None  # it was asked for as a pipe
        for line in self._process.stdout:
            self._lines.put(line)

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        self._complaints.seek(0)
        complaints = self._complaints.read()[-400:].decode("utf-8", "replace").strip()
        return f"its process ended with code {code}" + (f": {complaints}" if complaints else "")


def _swallow(listener: socket.socket) -> None:
    listener.settimeout(10)
    with listener, listener.accept()[0] as connection:
        while connection.recv(len(_BLOCK)):
            pass


def _shelf() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    path = Path(base) / "touchstone" / "shipped"
    path.mkdir(parents=True, exist_ok=True)
    return path


def _ports() -> int:
    """How many connections may lead from an address of this node to one server."""
    first, last = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    return int(last) - int(first) + 1


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("model name", "CPU part")):
            return line.partition(":")[2].strip()
    return platform.processor()
