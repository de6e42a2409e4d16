"""Keeps Ray's own processes of this node off the CPUs that are measured."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

_NAMES = ("raylet", "gcs_server", "ray::", "log_monitor", "runtime_env", "dashboard", "monitor.py")


def ray_processes() -> list[psutil.Process]:
    """Ray's processes of this node: those in our network namespace, for a machine may be several nodes."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and _is_rays(process) and _namespace(process.pid) == _namespace(os.getpid()):
                found.append(process)
    return found


@contextmanager
def kept_off(cpus: Sequence[int]) -> Iterator[None]:
    """Within the context, Ray's processes run on the last of these CPUs alone."""
    moved: dict[psutil.Process, list[int]] = {}
    if len(cpus) > 1:
        for process in ray_processes():
            with contextlib.suppress(psutil.Error):
                moved[process] = process.cpu_affinity()
                _bind(process, cpus[-1:])
    try:
        yield
    finally:
        for process, before in moved.items():
            with contextlib.suppress(psutil.Error):
                _bind(process, before)


def cpu_seconds() -> float:
    """CPU seconds of Ray's processes of this node until now."""
    total = 0.0
    for process in ray_processes():
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def _bind(process: psutil.Process, cpus: Sequence[int]) -> None:
    """All threads of a process; those that it starts later inherit it."""
    for thread in process.threads():
        with contextlib.suppress(OSError):
            os.sched_setaffinity(thread.id, cpus)


def _is_rays(process: psutil.Process) -> bool:
    line = process.cmdline()
    return bool(line) and any(name in " ".join(line[:3]) for name in _NAMES)


def _namespace(pid: int) -> str:
    return str(Path(f"/proc/{pid}/ns/net").readlink())
