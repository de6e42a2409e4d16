"""Files that a contender's processes have mapped or hold open: they are part of the program, wherever they are."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import psutil

from touchstone.bench.artifact_identity import file_digest
from touchstone.isolation.written import descriptor_flags

_EXECUTABLE = 2
"""The place of `x` in the permissions of a mapping."""
_KERNELS = tuple(map(Path, ("/proc", "/sys", "/dev")))
"""Folders of files that the kernel makes up."""
_DIGITS = 16
"""Digits of SHA-256 that are kept: enough to tell files apart, and a runtime maps a hundred."""


def files_in_use(processes: Iterable[psutil.Process], *, apart: Sequence[Path] = ()) -> dict[str, str]:
    """Digests of the files that are mapped as code or open for reading, by path.

    A path is the process's own view. An open file counts if it was not changed since the process started, and is in
    none of the folders `apart`. A file that has been removed meanwhile, or that we may not read, is left out; so is a
    process that has ended.
    """
    found: dict[str, str] = {}
    for process in processes:
        # By the seen path: a file of a container is not the one of that name on this machine.
        for path in dict.fromkeys([*_code_files(process.pid), *_read_files(process, [*apart, *_KERNELS])]):
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


def _read_files(process: psutil.Process, apart: Sequence[Path]) -> Iterator[str]:
    """Paths of regular files that a process may only read: jars, data, caches of code (proc(5), `fd` and `fdinfo`)."""
    with contextlib.suppress(OSError, psutil.Error):
        started = process.create_time()
        for link in Path(f"/proc/{process.pid}/fd").iterdir():
            with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
                path, status = Path(link.readlink()), link.stat()
                if not stat.S_ISREG(status.st_mode) or status.st_mtime >= started or not path.is_absolute():
                    continue
                if any(path.is_relative_to(folder) for folder in apart):
                    continue
                if descriptor_flags(process.pid, link.name) & os.O_ACCMODE == os.O_RDONLY:
                    yield str(path)
