"""Which file a program's code at an address is from: what can be said of code that has no symbols."""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

_DRAWN = re.compile(r"-?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Random name of a library's temporary file, new at each start."""
_MADE = "[code made at run time]"


def library_name(path: str) -> str:
    """A library by its file's name, which is the same in each start."""
    return _DRAWN.sub("", path.removesuffix(" (deleted)").rpartition("/")[2])


@dataclass(frozen=True)
class CodeMapping:
    """One stretch of a process's code: the first address, the one behind the last, and what stands for it."""

    first: int
    behind: int
    name: str


class MappedLibraries:
    """The code that processes have mapped, as it is when this is made."""

    def __init__(self, pids: Collection[int]) -> None:
        self._code = {pid: mapped_code(_maps(pid)) for pid in pids}

    def name(self, pid: int, address: int) -> str:
        """`[libfoo.so]` for an address within it; `[unknown]` for one at which the process has no code."""
        code = self._code.get(pid, [])
        place = bisect.bisect_right(code, address, key=lambda one: one.first) - 1
        return code[place].name if place >= 0 and address < code[place].behind else "[unknown]"


def mapped_code(maps: str) -> list[CodeMapping]:
    """What of `/proc/PID/maps` can be executed, by address."""
    found = []
    for line in maps.splitlines():
        addresses, permissions, _, _, _, *path = line.split(maxsplit=5)
        if "x" in permissions:
            first, _, behind = addresses.partition("-")
            name = f"[{library_name(path[0]).strip('[]')}]" if path else _MADE
            found.append(CodeMapping(int(first, 16), int(behind, 16), name))
    return found


def _maps(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
