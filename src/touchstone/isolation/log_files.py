"""Files that a process tree appends to: the logs that go past its standard output."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from touchstone.isolation.written import descriptor_flags


@dataclass(frozen=True)
class LogFile:
    """A file, and how long it was when it was looked at."""

    path: Path
    size: int
    """In bytes."""


LogFiles = dict[tuple[int, int], LogFile]
"""By device and inode."""


def log_files(processes: Iterable[psutil.Process], output: Path) -> LogFiles:
    """The regular files that are open for appending, and for nothing else. Its standard `output` is none of them.

    Databases and stores open theirs to read as well, or write at places of their own choice.
    """
    found: LogFiles = {}
    own = output.stat() if output.exists() else None
    for process in processes:
        with contextlib.suppress(OSError):
            for link in Path(f"/proc/{process.pid}/fd").iterdir():
                # Closed, or ended, meanwhile.
                with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
                    state = link.stat()
                    place = (state.st_dev, state.st_ino)
                    is_own = own is not None and place == (own.st_dev, own.st_ino)
                    if not is_own and stat.S_ISREG(state.st_mode) and _appends(process.pid, link.name):
                        found[place] = LogFile(link.readlink(), state.st_size)
    return found


def grown(before: LogFiles, after: LogFiles, home: Path) -> int:
    """Bytes appended to files that were open at both moments or made in `home` meanwhile.

    Elsewhere a file that was opened meanwhile may hold the lines of years.
    """
    total = 0
    for place, file in after.items():
        if place in before:
            total += max(0, file.size - before[place].size)
        elif file.path.is_relative_to(home):
            total += file.size
    return total


def _appends(pid: int, descriptor: str) -> bool:
    """Whether it was opened with O_APPEND, to write only."""
    flags = descriptor_flags(pid, descriptor)
    return bool(flags & os.O_APPEND) and flags & os.O_ACCMODE == os.O_WRONLY
