"""Reads the machine before and after a measurement: clocks, swap, CPU frequency, memory-limit events."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from touchstone.isolation.cgroup import Cgroup
from touchstone.record.evidence.surroundings import MachineState


class MachineWatch:
    """`begin`, measure, then `end`: what changed in between."""

    def __init__(self, cgroup: Cgroup | None) -> None:
        self._cgroup = cgroup
        self._wall, self._monotonic = time.time(), time.monotonic()
        self._swap = _swap_pages()
        self._frequencies = _frequencies()

    def end(self) -> MachineState:
        """The changes since the watch was made; None for what could not be read."""
        swap = _swap_pages()
        return MachineState(
            wall_s=time.time() - self._wall,
            monotonic_s=time.monotonic() - self._monotonic,
            swap_in_pages=_difference(self._swap.get("pswpin"), swap.get("pswpin")),
            swap_out_pages=_difference(self._swap.get("pswpout"), swap.get("pswpout")),
            frequency_mhz_before=self._frequencies,
            frequency_mhz_after=_frequencies(),
            memory_limit_hits=self._cgroup.limit_hits() if self._cgroup else None,
            oom_kills=self._cgroup.oom_kills() if self._cgroup else None,
        )


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _swap_pages() -> dict[str, int]:
    with contextlib.suppress(OSError):
        lines = Path("/proc/vmstat").read_text(encoding="utf-8").splitlines()
        return {name: int(value) for name, value in (line.split() for line in lines) if name in {"pswpin", "pswpout"}}
    return {}


def _frequencies() -> list[float]:
    """MHz by CPU; empty where the kernel reports the nominal frequency only."""
    files = sorted(Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq"))
    with contextlib.suppress(OSError, ValueError):
        return [int(file.read_text()) / 1000 for file in files]
    return []
