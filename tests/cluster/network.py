"""Machines in small: network namespaces joined by a bridge, each with its own real Ray node, on this machine."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

NETWORK = "10.91.7"
HEAD_PORT = 6391
_BRIDGE = "tsbridge"
_PATIENCE_S = 60.0


@dataclass
class Machine:
    """A namespace with an address; `ray` is its node's `ray start`, if it has one."""

    number: int
    environment: Mapping[str, str]
    folder: Path
    ahead_s: int = 0
    """How far its monotonic clock is ahead of this machine's: it has a time namespace of its own then."""
    ray: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def address(self) -> str:
        return f"{NETWORK}.{self.number}"

    @property
    def namespace(self) -> str:
        return f"touchstone-{self.number}"

    def command(self, *words: object) -> list[str]:
        """Words as a command that runs on this machine."""
        clock = ["unshare", "--time", "--fork", f"--monotonic={self.ahead_s}"] if self.ahead_s else []
        return ["ip", "netns", "exec", self.namespace, *clock, *(str(word) for word in words)]

    def run(self, *words: object, timeout_s: float = 300.0, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            self.command(*words),
            env={**os.environ, **self.environment, **environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def touchstone(self, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run touchstone as a person would."""
        return self.run(sys.executable, "-m", "touchstone", *words, timeout_s=900.0, **environment)

    def join(self, role: str, *, head: Machine, **environment: str) -> None:
        """Start Ray with a role; the head's own machine starts the cluster."""
        own = [f"--address={head.address}:{HEAD_PORT}"]
        if head is self:
            own = ["--head", f"--port={HEAD_PORT}", "--include-dashboard=false"]
        start = self.command(
            Path(sys.executable).parent / "ray", "start", *own, f"--node-ip-address={self.address}",
            f"--labels=role={role}", "--num-cpus=2", "--object-store-memory=80000000", "--disable-usage-stats",
            f"--temp-dir={self.folder}/ray", "--block",
        )  # fmt: skip
        self.ray = subprocess.Popen(
            start,
            env={**os.environ, **self.environment, **environment},
            stdout=(self.folder / "ray.log").open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        deadline = time.monotonic() + _PATIENCE_S
        while b"Ray runtime started" not in (self.folder / "ray.log").read_bytes():
            assert self.ray.poll() is None and time.monotonic() < deadline, (self.folder / "ray.log").read_text()
            time.sleep(0.2)

    def leave(self) -> None:
        """End Ray on this machine, and only there: by its process ids."""
        if self.ray is not None:
            for pid in [self.ray.pid, *pids_of(self.namespace)]:
                _end(pid, signal.SIGTERM)
            deadline = time.monotonic() + 10
            while pids_of(self.namespace) and time.monotonic() < deadline:
                self.ray.poll()
                time.sleep(0.1)
            self.fail()
            self.ray.wait()

    def fail(self) -> None:
        """The machine is gone from one moment to the next."""
        for pid in pids_of(self.namespace):
            _end(pid, signal.SIGKILL)

    def pids(self, word: str) -> list[int]:
        """Its processes with this word in their command."""
        return [pid for pid in pids_of(self.namespace) if word in _command(pid)]


@contextmanager
def network(folder: Path, *, ahead_s: Sequence[int]) -> Iterator[list[Machine]]:
    """Machines that reach each other and nobody else; at the end their processes are ended."""
    token = folder / "token"
    token.write_text(secrets.token_hex(32))
    environment = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    with ExitStack() as stack:
        _ip("link", "add", _BRIDGE, "type", "bridge")
        stack.callback(_ip, "link", "del", _BRIDGE)
        _ip("link", "set", _BRIDGE, "up")
        machines = []
        for number, ahead in enumerate(ahead_s, start=1):
            own = folder / str(number)
            own.mkdir()
            machine = Machine(number, environment, own, ahead)
            _ip("netns", "add", machine.namespace)
            stack.callback(_ip, "netns", "del", machine.namespace)
            outside = f"tsport{number}"
            _ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", machine.namespace)
            _ip("link", "set", outside, "master", _BRIDGE, "up")
            _ip("-n", machine.namespace, "addr", "add", f"{machine.address}/24", "dev", "eth0")
            for link in ("eth0", "lo"):
                _ip("-n", machine.namespace, "link", "set", link, "up")
            machines.append(machine)
            stack.callback(machine.leave)
        yield machines


def pids_of(namespace: str) -> list[int]:
    """The processes in a network namespace."""
    found = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def _end(pid: int, how: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, how)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
