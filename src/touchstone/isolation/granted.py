"""What a contender was given, as the kernel has it: control files of its cgroup, hard resource limits, OOM score."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from touchstone.isolation.cgroup import Cgroup
from touchstone.isolation.family import task_folders

_LIMIT = re.compile(r"^(Max .+?) {2,}(\S+) +(\S+)", re.MULTILINE)
"""A line of /proc/PID/limits: name, soft and hard limit. A program may raise the soft one as far as the hard one."""
_ENGINE = "touchstone-engine"[:15]
"""The name of the engine's main thread, which the kernel cuts."""
_NICE = 16
"""Its place in /proc/PID/stat behind the program's name (proc(5))."""


class GrantedResources:
    """The resources given to a contender at its start. `changed` compares them with the present ones."""

    def __init__(self, cgroup: Cgroup | None, pid: int, *, inherits: bool) -> None:
        """`inherits`: the process was started by touchstone itself, whose limits it has."""
        self._cgroup = cgroup
        self._controls = (cgroup.given or cgroup.controls()) if cgroup else {}
        source = "self" if inherits else str(pid)
        self._hard, self._oom_score = _hard_limits(source), _oom_score(source)
        self._nice, self._nices = os.getpriority(os.PRIO_PROCESS, 0), dict(_nices())

    def changed(self, members: Iterable[int]) -> dict[str, list[str]]:
        """By name what is not as it was given: the value then and the value now.

        `members` are the processes of the contender.
        """
        found: dict[str, list[str]] = {}
        if self._cgroup is not None and self._cgroup.exists():
            now = self._cgroup.controls(self._controls)
            found |= {name: [was, now[name]] for name, was in self._controls.items() if now.get(name, was) != was}
        for pid in members:
            for name, hard in _hard_limits(str(pid)).items():
                if hard > (was := self._hard.get(name, hard)):
                    found[f"{name} (hard limit)"] = [f"{was:.0f}", f"{hard:.0f}".replace("inf", "unlimited")]
            score = _oom_score(str(pid))
            if score is not None and self._oom_score is not None and score < self._oom_score:
                found["oom_score_adj"] = [str(self._oom_score), str(score)]
        for process, nice in _nices():
            if nice > (was := self._nices.get(process, self._nice)):
                found[f"nice value of {process[1]}"] = [str(was), str(nice)]
        return found


def _hard_limits(pid: str) -> dict[str, float]:
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/limits").read_text()
        return {name: float(hard.replace("unlimited", "inf")) for name, _, hard in _LIMIT.findall(text)}
    return {}


def _oom_score(pid: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(Path(f"/proc/{pid}/oom_score_adj").read_text())
    return None


def _nices() -> Iterator[tuple[tuple[int, str], int]]:
    """Touchstone and its engines by pid and name, with their threads' highest nice value."""
    own = os.getpid()
    for pid in (own, *_children()):
        found = []
        for task in task_folders(pid):
            with contextlib.suppress(OSError, ValueError, IndexError):
                name, _, fields = (task / "stat").read_text().partition("(")[2].rpartition(")")
                found.append((int(fields.split()[_NICE]), name))
        if found and (pid == own or any(name == _ENGINE for _, name in found)):
            yield (pid, "touchstone" if pid == own else "the engine"), max(nice for nice, _ in found)


def _children() -> list[int]:
    found = []
    for task in task_folders(os.getpid()):
        with contextlib.suppress(OSError):
            found += [int(child) for child in (task / "children").read_text().split()]
    return found
