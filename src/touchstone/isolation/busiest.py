"""Which other processes use the machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

import psutil

ProcessTimes = Mapping[int, tuple[str, float]]
"""By pid, the name and the CPU seconds of a process."""

_WORTH_NAMING = 0.001
_SHOWN = 3


def process_times() -> dict[int, tuple[str, float]]:
    """Name and CPU seconds of every process but this one."""
    found = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            found[process.pid] = (process.name(), times.user + times.system)
    found.pop(os.getpid(), None)
    return found


def busiest(before: ProcessTimes, after: ProcessTimes, total: float) -> tuple[str, ...]:
    """Processes that used at least a thousandth of `total` CPU seconds, the three largest first."""
    used = [
        ((seconds - before.get(pid, ("", 0.0))[1]) / total, f"{name} (pid {pid})")
        for pid, (name, seconds) in after.items()
    ]
    most = sorted((one for one in used if one[0] >= _WORTH_NAMING), reverse=True)[:_SHOWN]
    return tuple(f"{called} {share:.1%}" for share, called in most)
