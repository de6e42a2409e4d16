"""Whether a contender stayed where it was put, and was left alone: CPUs, priority, cgroup, memory, signals."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from touchstone.isolation.container import ContainerProcess
from touchstone.isolation.escapes import EscapedProcesses
from touchstone.isolation.family import task_folders
from touchstone.isolation.granted import GrantedResources
from touchstone.isolation.process import ServerProcess, lives

_REAL_TIME = {os.SCHED_FIFO: "SCHED_FIFO", os.SCHED_RR: "SCHED_RR", 6: "SCHED_DEADLINE"}
_NICE, _POLICY = 16, 38
"""Places in /proc/PID/stat behind the program's name (proc(5))."""
_KEPT = 5
_ROUNDED = 0.001
"""Runtimes of containers write a quota in whole microseconds."""
_INTERVAL_S = 0.5


class ConfinementWatch:
    """Watches a running contender, as a context. Call `account` just before stopping it."""

    def __init__(
        self,
        process: ServerProcess,
        cpus: Sequence[int],
        memory_limit: int | None = None,
        cpu_limit: float | None = None,
    ) -> None:
        self._process, self._cpus = process, set(cpus)
        self._limits = {"memory": memory_limit, "cpu": cpu_limit}
        self._lifted: dict[str, float | None] = {}
        inherits = not isinstance(process, ContainerProcess)
        self._given = GrantedResources(process.cgroup, process.pid, inherits=inherits)
        self._changed: dict[str, list[str]] = {}
        self._done = threading.Event()
        self._hidden = (0, 0)
        self._kernel = (0, 0)
        self._halted = False
        self._escapes = EscapedProcesses(process)
        self._sampler = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> ConfinementWatch:
        if self._process.cgroup is not None:
            self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()

    def account(self) -> dict[str, Any]:
        """What was found: only what is not as it should be, and the most memory seen that belongs to no process."""
        members = [process.pid for process in self._process.tree() if lives(process)]
        self._look_at_limits(members)
        found: dict[str, Any] = {
            "beyond_cpus": list(_beyond(members, self._cpus))[:_KEPT],
            "raised": list(_raised(members, os.getpriority(os.PRIO_PROCESS, 0)))[:_KEPT],
            **self._escapes.account(),
        }
        found["limits_gone"] = [name for name, limit in self._lifted.items() if limit is None]
        found |= {f"{name}_limit": limit for name, limit in self._lifted.items() if limit is not None}
        found["changed"] = self._changed
        found["halted"] = self._process.was_halted() or self._halted
        hidden, resident = self._hidden
        if hidden:
            found["unmapped_shared"], found["resident"] = hidden, resident
        kernel, resident = self._kernel
        if kernel:
            found["kernel"], found["kernel_resident"] = kernel, resident
        return {name: value for name, value in found.items() if value}

    def _look_at_limits(self, members: Sequence[int]) -> None:
        """Take notice of limits that are above those that were set, or gone: None, and of all else that was changed."""
        self._changed |= self._given.changed(members)
        cgroup = self._process.cgroup
        now = {"memory": cgroup.memory_limit(), "cpu": cgroup.cpu_limit()} if cgroup else {}
        if cgroup is None or not cgroup.exists():
            return
        for name, limit in now.items():
            set_to = self._limits[name]
            if set_to is not None and (limit is None or limit > set_to * (1 + _ROUNDED)):
                self._lifted[name] = limit

    def _sample(self) -> None:
        cgroup = self._process.cgroup
        assert cgroup is not None  # it is not started otherwise
        while not self._done.wait(_INTERVAL_S):
            pids = cgroup.pids()
            self._look_at_limits(pids)
            self._escapes.look(pids)
            states = list(_statuses(pids))
            self._halted |= any(is_halted(status) for status in states)
            mapped, resident, huge = (sum(part) for part in zip((0, 0, 0), *map(memory_of, states), strict=True))
            stat = cgroup.memory_stat()
            hidden = max(0, (cgroup.shared_memory(stat) or 0) - mapped) + huge
            self._hidden = max(self._hidden, (hidden, resident))
            kernel = max(0, (cgroup.kernel_memory(stat) or 0) - sum(usual_kernel_memory(state) for state in states))
            self._kernel = max(self._kernel, (kernel, resident))


def _tasks(pids: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Each thread with its process."""
    for pid in pids:
        yield from ((pid, int(task.name)) for task in task_folders(pid))


def _beyond(pids: Iterable[int], cpus: set[int]) -> Iterator[dict[str, Any]]:
    for pid, task in _tasks(pids):
        with contextlib.suppress(OSError):
            if cpus and not (allowed := os.sched_getaffinity(task)) <= cpus:
                name = Path(f"/proc/{pid}/task/{task}/comm").read_text(encoding="utf-8", errors="replace").strip()
                yield {"pid": pid, "thread": task, "name": name, "cpus": sorted(allowed)}


def _raised(pids: Iterable[int], usual: int) -> Iterator[dict[str, Any]]:
    """Threads that go before others: a nice value below touchstone's own, or a real-time policy."""
    for pid, task in _tasks(pids):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{pid}/task/{task}/stat").read_text().rpartition(")")[2].split()
            nice, policy = int(fields[_NICE]), int(fields[_POLICY])
            if nice < usual or policy in _REAL_TIME:
                yield {"pid": pid, "thread": task, "nice": nice, "usual": usual, "policy": _REAL_TIME.get(policy)}


def _statuses(pids: Iterable[int]) -> Iterator[str]:
    """/proc/PID/status of each process that is still there."""
    for pid in pids:
        with contextlib.suppress(OSError):
            yield Path(f"/proc/{pid}/status").read_text()


def is_halted(status: str) -> bool:
    """Whether a process was stopped by a signal at the moment of its /proc/PID/status. A tracer's stop is `t`."""
    return "\nState:\tT" in status


def usual_kernel_memory(status: str) -> int:
    """What the kernel needs for the threads, files and pages of a process, in bytes: a bound above.

    A thread has a stack of 16 KiB and some 10 KiB besides, a TCP connection some 4 KiB; the table of files has up to
    twice as many places as there are files. Page tables take 0.2 % of what is mapped, where pages are scattered more.
    """
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    number = {name: int(fields.get(name, "0").split()[0]) for name in ("Threads", "FDSize", "VmRSS", "VmPTE")}
    return number["Threads"] * 32_768 + number["FDSize"] * 8_192 + (number["VmPTE"] + number["VmRSS"] // 50) * 1024


def memory_of(status: str) -> tuple[int, int, int]:
    """RssShmem, VmRSS and HugetlbPages of /proc/PID/status (proc(5)), in bytes. 0 for a line that is not there.

    Shared memory that the process has mapped, resident memory, and huge pages, which are in neither.
    """
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    found = [int(fields.get(name, "0").split()[0]) * 1024 for name in ("RssShmem", "VmRSS", "HugetlbPages")]
    return found[0], found[1], found[2]
