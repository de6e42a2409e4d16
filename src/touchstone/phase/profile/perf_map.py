"""The perf map of a process: what lies at which address of the code that a runtime compiled.

perf reads it, too, but takes any of several entries for an address. Code moves and is thrown away, so that most
addresses of a service that has run for a while have several: the last one counts.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection
from pathlib import Path


class PerfMaps:
    """The maps that processes have written so far."""

    def __init__(self, pids: Collection[int]) -> None:
        self._code = {pid: code for pid in pids if (code := _read(pid))}

    def name(self, pid: int, address: int) -> str | None:
        """The function at an address; None where the runtime put none."""
        starts, behind, names = self._code.get(pid, ([], [], []))
        place = bisect.bisect_right(starts, address) - 1
        return names[place] if place >= 0 and address < behind[place] else None


def perf_map_of(pid: int) -> Path:
    """Where perf looks for it."""
    return Path(f"/tmp/perf-{pid}.map")


Code = tuple[list[int], list[int], list[str]]
"""First addresses in order, the addresses behind the last, and names."""


def _read(pid: int) -> Code | None:
    try:
        text = perf_map_of(pid).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return last_entries(text)


def last_entries(text: str) -> Code:
    """The entries of a map, `START SIZE NAME` in hexadecimal, without those that later ones lie upon."""
    starts: list[int] = []
    behind: list[int] = []
    names: list[str] = []
    for line in reversed(text.splitlines()):
        start, size, name = _entry(line)
        place = bisect.bisect_left(starts, start)
        free = (place == 0 or behind[place - 1] <= start) and (place == len(starts) or starts[place] >= start + size)
        if size and free:
            starts.insert(place, start)
            behind.insert(place, start + size)
            names.insert(place, name)
    return starts, behind, names


def _entry(line: str) -> tuple[int, int, str]:
    """One entry. A line that is none, such as a half-written last one, has size 0."""
    try:
        start, size, name = line.split(maxsplit=2)
        return int(start, 16), int(size, 16), name
    except ValueError:
        return 0, 0, ""
