"""Limits of cgroups, including those of touchstone's own group and its parents."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from touchstone.isolation.hierarchies import hierarchy_of

_NO_LIMIT = 1 << 62
"""Version 1 writes "no limit" as the largest number of whole pages."""


@dataclass(frozen=True)
class GroupLimit:
    """A limit, and the folder of the group that has it."""

    most: float
    by: Path


@dataclass(frozen=True)
class OwnLimits:
    """The tightest limits that hold for touchstone; None for no limit."""

    cpus: GroupLimit | None = None
    """CPUs' worth of time in each period."""
    memory: GroupLimit | None = None
    """Bytes."""
    tasks: GroupLimit | None = None
    """Processes and threads."""


def own_limits() -> OwnLimits:
    """Read the limits as they are now."""
    return OwnLimits(
        _tightest("cpu", cpu_limit_of),
        _tightest("memory", memory_limit_of),
        _tightest("pids", lambda folder: _number(folder, "pids.max")),
    )


def _tightest(controller: str, read: Callable[[Path], float | None]) -> GroupLimit | None:
    tree = hierarchy_of(controller)
    bounds = (
        [GroupLimit(most, folder) for folder in tree.groups_of() if (most := read(folder)) is not None] if tree else []
    )
    return min(bounds, key=lambda bound: bound.most, default=None)


def cpu_limit_of(folder: Path) -> float | None:
    """The quota of a group over its period, in CPUs. None for none (`cpu.max`, in version 1 two files)."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = (folder / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    with contextlib.suppress(OSError, ValueError):
        quota, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 else None
    return None


def memory_limit_of(folder: Path) -> float | None:
    """The memory limit of a group in bytes; None for none."""
    return _number(folder, "memory.max", "memory.limit_in_bytes")


def _number(folder: Path, *names: str) -> float | None:
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            text = (folder / name).read_text().strip()
            return None if text == "max" or int(text) >= _NO_LIMIT else float(text)
    return None
