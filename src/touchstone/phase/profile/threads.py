"""The CPU time of a process's threads, by the kernel's count."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from touchstone.isolation.family import task_folders


@dataclass(frozen=True)
class ThreadTime:
    """One thread: its name, of which the kernel keeps 15 characters, and its CPU seconds."""

    name: str
    cpu_s: float


def thread_times(pid: int) -> dict[int, ThreadTime]:
    """All threads of a process by their ids; one that ends meanwhile is left out."""
    found = {}
    for task in task_folders(pid):
        with contextlib.suppress(OSError, IndexError, ValueError):
            name = (task / "comm").read_text(encoding="utf-8", errors="replace").rstrip("\n")
            found[int(task.name)] = ThreadTime(name, int((task / "schedstat").read_text().split()[0]) / 1e9)
    return found


def spent_between(before: dict[int, ThreadTime], after: dict[int, ThreadTime]) -> list[ThreadTime]:
    """What each thread that is there at the end used since the beginning."""
    return [
        ThreadTime(thread.name, thread.cpu_s - (before[tid].cpu_s if tid in before else 0.0))
        for tid, thread in after.items()
    ]
