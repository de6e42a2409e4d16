"""What a runtime collects and allocates.

Its own log of collections tells it: HotSpot's `-Xlog:gc`, Go's `GODEBUG=gctrace=1`. A Go heap of a few MiB says too
little in whole MiB, so that a Go program is also started with `GODEBUG=sbrk=1`: it then collects nothing and takes all
memory from the kernel, so its mapped memory is its allocated memory.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from touchstone.bench.base import Built
from touchstone.isolation.process import ServerProcess
from touchstone.phase.profile.jvm import jcmd
from touchstone.phase.profile.profiler import ProfilerError
from touchstone.record.evidence.profile import ProfilePass, RequestCounts

_MIB = 2**20
_HOTSPOT = re.compile(
    r"\[(?P<at>[\d.]+)s\]\S* *GC\(\d+\) (?P<what>.*?)\s(?P<before>\d+)M(?:\([^)]*\))?->(?P<after>\d+)M\b"
)
_GO = re.compile(
    r"^gc \d+ @(?P<at>[\d.]+)s \d+%: .* (?P<before>\d+)->\d+->(?P<after>\d+) MB, .*?(?P<forced>\(forced\))?$",
    re.MULTILINE,
)
_FORCED = "System.gc()"
_FINE = 20
"""Least MiB between two collections: with less, the log's whole MiB give no two digits."""
_ROOM = 512 * _MIB
"""What a program may allocate that never frees."""
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Collection:
    """One collection: when, in seconds of the process; MiB in use before and after it; whether it was asked for."""

    at: float
    before: int
    after: int
    forced: bool = False


def hotspot_collections(log: str) -> list[Collection]:
    """The collections in a log of HotSpot, of any of its collectors."""
    return [
        Collection(float(found["at"]), int(found["before"]), int(found["after"]), forced=_FORCED in found["what"])
        for found in _HOTSPOT.finditer(log)
    ]


def go_collections(log: str) -> list[Collection]:
    """The collections in what a Go program wrote to its standard error."""
    return [
        Collection(float(found["at"]), int(found["before"]), int(found["after"]), forced=bool(found["forced"]))
        for found in _GO.finditer(log)
    ]


def heap_counts(collections: Sequence[Collection], done: ProfilePass, rate: float | None) -> RequestCounts:
    """Collections and allocated bytes between a pass's first and last collection.

    With fewer than two, only their number over the whole pass is known. Bytes are left out where they are too few to
    be read from a log in whole MiB.
    """
    if len(collections) < 2:
        return RequestCounts(requests=done.requests, rate=rate or 0.0, counts={"collections": len(collections)})
    span = collections[-1].at - collections[0].at
    counts = {"collections": sum(not one.forced for one in collections[1:])}
    filled = [later.before - earlier.after for earlier, later in itertools.pairwise(collections)]
    if sum(filled) >= _FINE * len(filled):
        counts["allocated"] = sum(filled) * _MIB
    return RequestCounts(requests=round(done.requests * span / done.seconds), rate=rate or 0.0, counts=counts)


class HotspotHeap:
    """A running JVM's log of its collections, from now on. Raises ProfilerError if it takes no orders."""

    def __init__(self, process: ServerProcess, log: Path) -> None:
        tool = jcmd(process)
        if tool is None:
            raise ProfilerError(
                "not measured: only a JVM with `jcmd` next to it, or a Go program, reports its collections",
                fix="run it with a JDK instead of a JRE",
            )
        self._jcmd, self._log = tool, log
        self._jcmd.tell("VM.log", f"output=file={log}", "what=gc", "decorators=uptime")

    def collect(self) -> None:
        """Collect now, so that what is in use is known."""
        self._jcmd.tell("GC.run")

    def collections(self) -> list[Collection]:
        """Collections since the log began."""
        try:
            return hotspot_collections(self._log.read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            raise ProfilerError(
                f"not measured: the JVM left no log of its collections: {error}",
                fix="let it write to the folder of the run's logs",
            ) from error


def with_gc_trace(built: Built) -> Built:
    """The build of a Go program, to be started so that it reports its collections."""
    return _with_debug(built, "gctrace=1")


def without_collector(built: Built) -> Built:
    """A Go build started without collection, so that all allocations come from the kernel."""
    return _with_debug(built, "sbrk=1")


def data_size(process: ServerProcess) -> int:
    """Bytes of data that the process tree has mapped, used or not, without its threads' stacks: a thread that starts
    during a pass is none of what requests allocate. Raises ProfilerError if the process has ended.
    """
    try:
        return sum(mapped_data(Path(f"/proc/{member.pid}/maps").read_text()) for member in process.tree())
    except OSError as error:
        raise ProfilerError(
            f"not measured: its memory cannot be read: {error}", fix="see the contender's log"
        ) from error


def mapped_data(maps: str) -> int:
    """Bytes of private writable memory in `/proc/PID/maps`, without stacks: these lie after a guard page."""
    total = guarded_from = 0
    for line in maps.splitlines():
        span, access, *_ = line.split(maxsplit=2)
        start, end = (int(address, 16) for address in span.split("-"))
        if access == "rw-p" and start != guarded_from:
            total += end - start
        guarded_from = end if access == "---p" and end - start == _PAGE else 0
    return total


def bearable_rate(rate: float, seconds: float, collections: Sequence[Collection], requests: int) -> float:
    """The rate, lowered until the program's allocations in that time fit into half a GiB."""
    filled = sum(one.before + 1 for one in collections) * _MIB
    return rate if not filled else min(rate, _ROOM / filled * requests / seconds)


def _with_debug(built: Built, setting: str) -> Built:
    asked = [built.env["GODEBUG"]] if built.env.get("GODEBUG") else []
    return replace(built, env={**built.env, "GODEBUG": ",".join([*asked, setting])})
