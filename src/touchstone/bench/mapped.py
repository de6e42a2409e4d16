"""Which code a contender's processes have mapped: shared libraries are part of the program, wherever they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from touchstone.bench.artifact_identity import file_digest

_EXECUTABLE = 2
"""The place of `x` in the permissions of a mapping."""
_DIGITS = 16
"""Digits of SHA-256 that are kept: enough to tell files apart, and a runtime maps a hundred."""


def mapped_code(processes: Iterable[psutil.Process]) -> dict[str, str]:
    """The digest of each file that is mapped as code, by its path. A path is the process's own view.

    A file that has been removed meanwhile, or that we may not read, is left out; so is a process that has ended.
    """
    found: dict[str, str] = {}
    for process in processes:
        for path in _code_files(process.pid):
            with contextlib.suppress(OSError):
                seen = Path(f"/proc/{process.pid}/root{path}")
                if path not in found and seen.is_file():
                    found[path] = file_digest(seen)[:_DIGITS]
    return dict(sorted(found.items()))


def _code_files(pid: int) -> Iterator[str]:
    """Paths in /proc/PID/maps (proc(5)): address, permissions, offset, device, inode, path."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        for line in lines:
            _, permissions, *_, path = [*line.split(maxsplit=5), ""][:6]
            if permissions[_EXECUTABLE] == "x" and path.startswith("/") and not path.endswith(" (deleted)"):
                yield path
