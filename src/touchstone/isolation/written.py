"""What a process tree writes to others than its clients: by system call, through pipes, and into mapped files."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

_KIB = 1024
ByProcess = Mapping[psutil.Process, int]
Place = tuple[int, int]
"""A pipe, by device and inode."""


@dataclass(frozen=True)
class WrittenSoFar:
    """Counts at one moment, bytes unless said otherwise, by process: one that ends takes nothing away."""

    calls: ByProcess
    """By `write` and its kind, and not by `send`. Empty where processes of the tree answer each other through pipes."""
    writes: ByProcess
    """The number of these calls."""
    dirtied: ByProcess
    """Pages of files that were changed in any way, except of files in memory. Empty where `calls` is."""
    mapped: ByProcess
    """Resident pages of files that are mapped to be shared and written."""
    piped: ByProcess
    """Read by processes that read from the tree's pipes, and write nothing back."""

    def since(self, before: WrittenSoFar) -> dict[str, int]:
        """What was added since an earlier moment, by kind; only kinds of which there are some."""
        kinds = {
            "calls": _added(self.calls, before.calls),
            "writes": _added(self.writes, before.writes),
            "dirtied": _added(self.dirtied, before.dirtied),
            "mapped": _added(self.mapped, before.mapped),
            "piped": _added(self.piped, before.piped),
        }
        return {name: count for name, count in kinds.items() if count}


def written_so_far(tree: Iterable[psutil.Process]) -> WrittenSoFar:
    """The counts of a process tree. What the kernel does not let us read is left out."""
    processes = list(tree)
    readers, answers_back = _readers(processes)
    writers = [] if answers_back else [process for process in processes if process not in readers]
    accounts = {process: _account(process.pid) for process in {*writers, *readers}}
    return WrittenSoFar(
        calls={p: accounts[p].get("wchar", 0) for p in writers},
        writes={p: accounts[p].get("syscw", 0) for p in writers},
        dirtied={p: accounts[p].get("write_bytes", 0) for p in writers},
        mapped={p: _mapped_to_write(p.pid) for p in processes},
        piped={p: accounts[p].get("rchar", 0) for p in readers},
    )


def _added(now: ByProcess, before: ByProcess) -> int:
    return sum(max(0, count - before.get(process, 0)) for process, count in now.items())


def _account(pid: int) -> dict[str, int]:
    """/proc/PID/io (proc(5)): bytes and calls of all threads, also of those that have ended."""
    with contextlib.suppress(OSError, ValueError):
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
        return {name: int(value) for name, _, value in (line.partition(":") for line in lines)}
    return {}


def _readers(tree: list[psutil.Process]) -> tuple[set[psutil.Process], bool]:
    """Processes that only read from the pipes of others, and whether some write back.

    A pipe without a name is inherited, so its ends are in the tree. One with a name may be read by any process.
    """
    ends = {process: _Ends.of(process.pid) for process in tree}
    candidates = dict(ends)
    if any(one.has_name for one in ends.values()):
        outside = (process for process in psutil.process_iter() if process not in ends and process.pid != os.getpid())
        candidates |= {process: _Ends.of(process.pid) for process in outside}
    found, answers_back = set(), False
    for process, own in candidates.items():
        others = [one for other, one in ends.items() if other != process]
        if own.reads.isdisjoint(place for one in others for place in one.writes):
            continue
        if own.writes.isdisjoint(place for one in others for place in one.reads):
            found.add(process)
        else:
            answers_back = True
    return found, answers_back


@dataclass(frozen=True)
class _Ends:
    """The ends of pipes that a process has open."""

    reads: frozenset[Place]
    writes: frozenset[Place]
    has_name: bool

    @classmethod
    def of(cls, pid: int) -> _Ends:
        reads, writes, has_name = set(), set(), False
        with contextlib.suppress(OSError):
            for link in Path(f"/proc/{pid}/fd").iterdir():
                # Closed, or ended, meanwhile.
                with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
                    state = link.stat()
                    if not stat.S_ISFIFO(state.st_mode):
                        continue
                    has_name = has_name or str(link.readlink()).startswith("/")
                    mode = descriptor_flags(pid, link.name) & os.O_ACCMODE
                    place = (state.st_dev, state.st_ino)
                    if mode != os.O_WRONLY:
                        reads.add(place)
                    if mode != os.O_RDONLY:
                        writes.add(place)
        return cls(frozenset(reads), frozenset(writes), has_name)


def descriptor_flags(pid: int, descriptor: str) -> int:
    """How a descriptor was opened, as open(2) takes it (/proc/PID/fdinfo, proc(5)). Raises OSError and ValueError."""
    lines = Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("flags:")).split()[1], 8)


def _mapped_to_write(pid: int) -> int:
    """Resident bytes of mappings of files that others see when they are written (/proc/PID/smaps, proc(5))."""
    with contextlib.suppress(OSError):
        # Cheap to read, and mostly enough.
        if any(_is_written(line) for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()):
            return sum(_resident(Path(f"/proc/{pid}/smaps").read_text(errors="replace").splitlines()))
    return 0


def _is_written(line: str) -> bool:
    """Whether a line is of a named file that is mapped to be written and shared. Devices are none."""
    _, permissions, *_, path = [*line.split(maxsplit=5), ""][:6]
    in_memory = path.startswith("/dev/") and not path.startswith("/dev/shm/")
    return permissions[1::2] == "ws" and path.startswith("/") and not path.endswith(" (deleted)") and not in_memory


def _resident(lines: Iterable[str]) -> Iterator[int]:
    counts = False
    for line in lines:
        if not line.split(maxsplit=1)[0].endswith(":"):
            counts = _is_written(line)
        elif counts and line.startswith("Rss:"):
            yield int(line.split()[1]) * _KIB
