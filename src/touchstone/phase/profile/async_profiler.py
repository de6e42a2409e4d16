"""async-profiler: samples a JVM from within, so that compiled and interpreted Java has its names."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from touchstone.isolation.process import ServerProcess
from touchstone.phase.profile.java_names import of_frame
from touchstone.phase.profile.jvm import jcmd
from touchstone.phase.profile.libraries import library_name
from touchstone.phase.profile.profiler import HERTZ, Profiler, ProfilerError, folded, thread_kind
from touchstone.record.evidence.profile import KERNEL, FoldedStacks
from touchstone.toolchain import async_profiler

_INTERVAL_NS = round(1e9 / HERTZ)
_OWN = ("_[j]", "_[i]", "_[0]", "_[1]")
"""How async-profiler marks compiled, inlined, interpreted and little compiled Java; the kernel's mark stays."""


class AsyncProfiler(Profiler):
    """Attached by the JVM's own `jcmd`. Where perf events are not permitted, a timer of each thread is used."""

    def __init__(self, process: ServerProcess) -> None:
        self._library = async_profiler.library()
        if not self._library.is_file():
            raise ProfilerError(
                f"not measured: needs async-profiler; {async_profiler.HOW_TO_GET}", fix="then run the phase again"
            )
        tool = jcmd(process)
        if tool is None:
            raise ProfilerError(
                "not measured: there is no jcmd next to the JVM's program, by which a profiler is attached",
                fix="run the contender with a JDK: a JRE cannot be attached to",
            )
        self._jcmd = tool
        self._event = "cpu"
        self.name = f"async-profiler {async_profiler.VERSION}"

    def prepare(self) -> None:
        """Load the library: from then on the compiler keeps the names of inlined functions."""
        self._tell("status")

    def start(self) -> None:
        """Begin by perf events, or by timers if those are refused."""
        wanted = f"interval={_INTERVAL_NS},cstack=vm,threads"
        reply = self._tell(f"start,event=cpu,{wanted}")
        if "started" not in reply:
            self._event = "ctimer"
            timers = self._tell(f"start,event=ctimer,{wanted}")
            if "started" not in timers:
                raise ProfilerError(
                    f"not measured: async-profiler does not start: {reply.strip() or timers.strip() or 'no message'}",
                    fix="see the contender's log; `-XX:+DisableAttachMechanism` and other users' JVMs forbid it",
                )
        self.name = f"async-profiler {async_profiler.VERSION}, {self._event}"

    def stop(self) -> FoldedStacks:
        """End it, and read the stacks that it wrote."""
        with tempfile.NamedTemporaryFile(prefix="touchstone-jvm-", suffix=".collapsed") as out:
            reply = self._tell(f"stop,file={out.name},collapsed,ann")
            text = Path(out.name).read_text(encoding="utf-8", errors="replace")
        if not text:
            raise ProfilerError(
                f"not measured: async-profiler left nothing: {reply.strip() or 'no message'}",
                fix="see that the JVM may write below /tmp, and that it was not ended",
            )
        return folded(_stacks(text))

    def _tell(self, order: str) -> str:
        """Give the library an order by jcmd; return its output."""
        with tempfile.NamedTemporaryFile(prefix="touchstone-jvm-", suffix=".log") as log:
            answered = self._jcmd.tell("JVMTI.agent_load", str(self._library), f'"{order},log={log.name}"')
            return Path(log.name).read_text(encoding="utf-8", errors="replace") + answered


def _stacks(text: str) -> Iterator[tuple[list[str], int]]:
    """Lines of `[thread tid=1];frame;frame 12`."""
    for line in text.splitlines():
        frames, _, count = line.rpartition(" ")
        if not count.isdigit():
            continue
        thread, *rest = frames.split(";")
        yield [thread_kind(thread.strip("[]").partition(" tid=")[0]), *map(_plain, rest)], int(count)


def _plain(frame: str) -> str:
    for mark in _OWN:
        frame = frame.removesuffix(mark)
    if frame.endswith(KERNEL):
        return frame
    return library_name(frame) if frame.startswith("/") else of_frame(frame)
