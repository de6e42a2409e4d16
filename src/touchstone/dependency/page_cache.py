"""Asks the kernel for a file's dirty pages, not yet written to disk (`cachestat(2)`)."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

_CACHESTAT = 451
"""The number of the system call, on every architecture; Linux has it since 6.5."""
_C = ctypes.CDLL(None, use_errno=True)


class _Range(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint64), ("length", ctypes.c_uint64))


class _Statistics(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("cached", "dirty", "writeback", "evicted", "recently_evicted")
    )


@dataclass(frozen=True)
class Pages:
    """Pages of a file that the disk does not hold yet."""

    waiting: int
    """Changed, and nothing has been done about it."""
    on_their_way: int


def changed_pages(path: Path) -> Pages | None:
    """Changed pages of the file; None without a file or an answer of the kernel."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        found = _Statistics()
        failed = _C.syscall(_CACHESTAT, handle, ctypes.byref(_Range(0, 0)), ctypes.byref(found), 0)
        return None if failed else Pages(int(found.dirty), int(found.writeback))
    finally:
        os.close(handle)
