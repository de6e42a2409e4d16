"""A process and all below it, and what they use together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import psutil


def family(pid: int) -> list[psutil.Process]:
    """A process and its descendants; none if it has gone."""
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    return []


def task_folders(pid: int) -> list[Path]:
    """The folders of a process's threads, /proc/PID/task/TID. None if it has ended, be it while they are listed."""
    with contextlib.suppress(OSError):
        return list(Path(f"/proc/{pid}/task").iterdir())
    return []


def resident(processes: Iterable[psutil.Process]) -> int:
    """The sum of their RSS in bytes, which counts what they share once for each. Who has ended has none."""
    total = 0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            total += int(process.memory_info().rss)
    return total


def cpu_seconds(process: psutil.Process) -> float | None:
    """CPU seconds of a process or zombie and the children that it reaped. None if it has gone."""
    with contextlib.suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return None
