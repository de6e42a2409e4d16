"""perf: samples native programs and the kernel under them, by the CPU clock, which needs no hardware counters."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.isolation.child import end_child, start_child
from touchstone.isolation.process import ServerProcess
from touchstone.phase.profile.libraries import MappedLibraries
from touchstone.phase.profile.naming_runtime import NamingRuntime, remove_traces
from touchstone.phase.profile.perf_map import PerfMaps
from touchstone.phase.profile.profiler import HERTZ, Profiler, ProfilerError, folded, thread_kind
from touchstone.record.evidence.profile import KERNEL, FoldedStacks
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

Names = Callable[[str], str]

_PATIENCE_S = 30.0
_PERMIT = (
    "as root: `sysctl kernel.perf_event_paranoid=1 kernel.kptr_restrict=0`, or give perf CAP_PERFMON; in a container "
    "the seccomp profile must allow perf_event_open"
)


class Perf(Profiler):
    """Samples a process tree from outside: `watched` are the CPUs that it is bound to, `own` where perf itself may run.

    `names` gives a function the name that its language's table of patterns has for it; those of scripts have the names
    that their `runtime` tells.

    Where it is permitted, perf samples these CPUs and not the threads: a timer for each thread is set again at each
    context switch, which was seen to add half to the CPU of a server that switches four times per request.
    """

    def __init__(
        self,
        process: ServerProcess,
        watched: Sequence[int],
        own: Sequence[int],
        names: Names = str,
        runtime: NamingRuntime | None = None,
    ) -> None:
        tool = find_tool("perf", ">=5.17")
        if not isinstance(tool, FoundTool):
            raise ProfilerError(f"not measured: {tool}", fix="then run the phase again")
        self._perf = str(tool.path)
        self._process = process
        self._watched, self._own = watched, own
        self._members: set[int] = set()
        self._cwd = Path(f"/proc/{process.pid}/cwd").resolve()
        self._runtime = runtime
        self._names = runtime.names(self._cwd) if runtime else names
        self.name = f"perf {tool.version}, cpu-clock"
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._child: subprocess.Popen[Any] | None = None
        self._pipes: list[int] = []

    def start(self) -> None:
        """Begin; perf says by a pipe when it samples."""
        self._members = self._pids()
        try:
            self._begin(["-a", "-C", ",".join(map(str, self._watched))] if self._watched else ["-a"])
        except ProfilerError:
            self._begin(["-p", ",".join(map(str, self._members))])

    def _begin(self, whom: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="touchstone-perf-")
        home = Path(self._folder.name)
        control, answer = home / "control", home / "answer"
        os.mkfifo(control)
        os.mkfifo(answer)
        words = ["record", "-e", "cpu-clock", "-F", str(HERTZ), "--call-graph", "fp", *whom, "-D", "-1"]
        words += ["--control", f"fifo:{control},{answer}", "-o", str(home / "perf.data")]
        with (home / "log").open("wb") as log:
            self._child = start_child([self._perf, *words], stdout=log, stderr=log)
        with contextlib.suppress(ProcessLookupError, OSError):
            if self._own:
                os.sched_setaffinity(self._child.pid, self._own)
        self._pipes = [os.open(pipe, os.O_RDWR) for pipe in (control, answer)]
        os.write(self._pipes[0], b"enable\n")
        ready, _, _ = select.select(self._pipes[1:], [], [], _PATIENCE_S if self._lives() else 0)
        if not ready:
            raise self._failed("perf does not sample")

    def _pids(self) -> set[int]:
        return {process.pid for process in self._process.tree()}

    def _lives(self) -> bool:
        """Whether perf is still there a moment after its start: where it is not permitted, it ends at once."""
        assert self._child is not None  # `start` has made it
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(0.3)
        return self._child.poll() is None

    def stop(self) -> FoldedStacks:
        """End perf and read its samples."""
        assert self._folder is not None  # `start` goes before
        assert self._child is not None
        self._members |= self._pids()
        self._child.send_signal(signal.SIGINT)
        try:
            self._child.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired as error:
            raise self._failed("perf did not end") from error
        home = Path(self._folder.name)
        document = home / "perf.json"
        command = [self._perf, "data", "convert", "--to-json", str(document), "-i", str(home / "perf.data")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not document.is_file():
            raise self._failed(f"perf cannot convert its samples: {done.stderr.strip()[-200:]}")
        try:
            sampled = json.loads(document.read_text(encoding="utf-8", errors="replace"))
        except ValueError as error:
            raise self._failed(f"what perf has written is not JSON: {error}") from error
        code = SymbolNames(PerfMaps(self._members), MappedLibraries(self._members), self._names)
        stacks = folded(_stacks(sampled, self._members, code))
        self.unseen = self._runtime.unseen_in(stacks) if self._runtime else None
        self.end()
        return stacks

    def end(self) -> None:
        """End perf, which would sample the whole machine for ever, and remove its files."""
        if self._child is not None:
            end_child(self._child)
        for pipe in self._pipes:
            os.close(pipe)
        if self._folder is not None:
            self._folder.cleanup()
        remove_traces(self._members, self._cwd)
        self._child, self._pipes, self._folder = None, [], None

    def _failed(self, what: str) -> ProfilerError:
        message = ""
        if self._folder is not None:
            lines = (Path(self._folder.name) / "log").read_text(encoding="utf-8", errors="replace").splitlines()
            message = next((line.strip() for line in lines if line.strip() and not line.startswith("[")), "")
        self.end()
        return ProfilerError(f"not measured: {what}{f': {message}' if message else ''}", fix=_PERMIT)


@dataclass(frozen=True)
class SymbolNames:
    """What stands for an address outside the kernel."""

    compiled: PerfMaps
    libraries: MappedLibraries
    names: Names

    def name(self, frame: dict[str, str], pid: int) -> str:
        """A frame by its function, or by its file: perf names no file where it has no symbol."""
        address = int(frame.get("ip", "0x0"), 16)
        symbol = self.compiled.name(pid, address) or frame.get("symbol")
        return self.names(symbol) if symbol else self.libraries.name(pid, address)


def _stacks(document: dict[str, Any], members: Collection[int], code: SymbolNames) -> Iterator[tuple[list[str], int]]:
    """The samples of these processes in perf's JSON, the outermost frame first."""
    for sample in document.get("samples", []):
        pid = sample.get("pid")
        if pid in members:
            frames = [_name(frame, pid, code) for frame in reversed(sample.get("callchain", []))]
            yield [thread_kind(sample.get("comm", "")), *(frames or ["[no stack]"])], 1


def _name(frame: dict[str, str], pid: int, code: SymbolNames) -> str:
    if frame.get("dso", "").startswith("[kernel") or frame.get("ip", "").startswith("0xffff"):
        return f"{frame.get('symbol') or '[unknown]'}{KERNEL}"
    return code.name(frame, pid)
