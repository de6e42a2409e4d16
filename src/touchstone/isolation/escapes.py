"""Finds processes of a contender outside its session or cgroup, short-lived ones included."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import psutil

from touchstone.isolation.cgroup import Cgroup
from touchstone.isolation.child import is_foreign
from touchstone.isolation.process import ServerProcess, lives

_ENDS_WITHIN_S = 0.05
_PARENT, _SESSION, _FLAGS = 1, 3, 6
"""Places in /proc/PID/stat behind the program's name (proc(5))."""
_PF_EXITING = 0x4
"""The process is ending (include/linux/sched.h)."""


class EscapedProcesses:
    """What was seen to have escaped so far. `look` is for now and then, `now` for a moment that counts."""

    def __init__(self, process: ServerProcess) -> None:
        self._process = process
        self._present: set[int] = set()
        self._inside: set[int] = set()
        self._suspects: dict[str, dict[int, dict[str, Any]]] = {}
        self._seen: dict[str, dict[int, dict[str, Any]]] = {"strays": {}, "left_cgroup": {}}

    def look(self, inside: Collection[int]) -> None:
        """Note processes that are outside in two successive looks. `inside` are those in the cgroup now.

        A process that is outside for a moment only may be about to enter, or to end. The whole tree is checked only if
        a process is new outside of the cgroup, or has left it.
        """
        present = {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
        new = present - self._present - set(inside)
        gone_out = (self._inside & present) - set(inside)
        self._present, self._inside = present, self._inside & present | set(inside)
        if not (self._suspects or gone_out or any(self._belongs(pid) for pid in new)):
            return
        found = self.now()
        for how, processes in _twice(self._suspects, found).items():
            self._seen[how] |= processes
        self._suspects = {how: processes for how, processes in found.items() if processes}

    def account(self) -> dict[str, list[dict[str, Any]]]:
        """All that have escaped, those of now included, by how."""
        now = self.now()
        if any(now.values()):
            # A process that ends leaves its group before it is a zombie.
            time.sleep(_ENDS_WITHIN_S)
            now = _twice(now, self.now())
        return {how: list((self._seen[how] | now[how]).values()) for how in now}

    def now(self) -> dict[str, dict[int, dict[str, Any]]]:
        """Processes outside at this moment, by kind of escape and process id."""
        # A zombie is in no cgroup any more: one that has ended has not escaped.
        members = [process.pid for process in self._process.tree() if lives(process)]
        cgroup = self._process.cgroup
        outside = {
            "strays": self._process.strays(members),
            "left_cgroup": [pid for pid in members if cgroup and not _is_inside(pid, cgroup)],
        }
        # A process that ends is in no cgroup for some time before it is a zombie, on a busy machine for long.
        return {how: {pid: _described(pid) for pid in pids if not _is_ending(pid)} for how, pids in outside.items()}

    def _belongs(self, pid: int) -> bool:
        """Whether a new process comes from the tree or was reparented to touchstone."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = _stat(pid)
            parent, session = int(fields[_PARENT]), int(fields[_SESSION])
            if parent == os.getpid():
                return is_foreign(pid)
            return parent in self._inside or session == self._process.pid
        return False


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the program's name."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _is_ending(pid: int) -> bool:
    try:
        return bool(int(_stat(pid)[_FLAGS]) & _PF_EXITING)
    except (OSError, ValueError, IndexError):
        return True


def _twice(
    first: dict[str, dict[int, dict[str, Any]]], later: dict[str, dict[int, dict[str, Any]]]
) -> dict[str, dict[int, dict[str, Any]]]:
    """Processes that both looks have found, as the later one saw them."""
    return {
        how: {pid: one for pid, one in processes.items() if pid in first.get(how, {})}
        for how, processes in later.items()
    }


def _is_inside(pid: int, cgroup: Cgroup) -> bool:
    """Whether a process is in the group or below it. One that has gone is nowhere else."""
    with contextlib.suppress(OSError):
        name = cgroup.paths["memory"].name
        lines = [line.split(":", 2) for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
        places = [path for _, names, path in lines if names == "" or "memory" in names.split(",")]
        return not places or any(name in path.split("/") for path in places)
    return True


def _described(pid: int) -> dict[str, Any]:
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        times = process.cpu_times()
        return {
            "pid": pid,
            "argv": process.cmdline()[:3],
            "cpu_s": times.user + times.system,
            "rss": process.memory_info().rss,
        }
    return {"pid": pid}
