"""JFR, the recorder within every JDK: the last resort where async-profiler cannot be had.

It samples Java alone. What the kernel and libraries do for a native method, and what the JVM's own threads do, it
cannot tell apart: that time is counted by the kernel, thread by thread, and shown under a name of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.isolation.process import ServerProcess
from touchstone.phase.profile.java_names import of_method
from touchstone.phase.profile.jvm import jcmd
from touchstone.phase.profile.profiler import HERTZ, Profiler, ProfilerError, folded, thread_kind
from touchstone.phase.profile.threads import ThreadTime, spent_between, thread_times
from touchstone.record.evidence.profile import FoldedStacks

NOT_SEEN = "[not seen by JFR]"
"""The frame that stands for what the recorder has no eyes for."""
BLIND = "JFR sees only Java code, so CPU of the kernel, native libraries and the JVM's own threads is one part"
_PATIENCE_S = 60
_SHOWN = 300
"""Letters of what was said: its end tells what is wrong."""
_BY_CPU = "jdk.CPUTimeSample"
"""Samples by each thread's CPU time, in native methods too: JEP 509, from JDK 25 on, on Linux."""
_BY_CLOCK = ("jdk.ExecutionSample", "jdk.NativeMethodSample")
"""Samples every 10 ms of threads that run Java, and of those in native methods, where they may as well wait."""
_SETTINGS = f"""<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="{_BY_CPU}"><setting name="enabled">true</setting><setting name="throttle">1 ms</setting></event>
  <event name="{_BY_CLOCK[0]}"><setting name="enabled">true</setting><setting name="period">10 ms</setting></event>
  <event name="{_BY_CLOCK[1]}"><setting name="enabled">true</setting><setting name="period">10 ms</setting></event>
</configuration>
"""
_WAITS = re.compile(r"\.(epollWait\d*|poll|park|accept0?|wait|wait0|waitFor\w*|sleep\w*|select\w*|kevent)$")
"""Native methods in which a thread sleeps: a sample by the clock says nothing of its CPU."""
_OF_THE_JVM = re.compile(
    r"^(C[12] Comp|GC Thread|G1 |ParGC|Z(Director|Driver|Worker|Stat)|Shenandoah|VM |JFR |Sweeper)"
)
"""Threads that run no Java, by their beginnings: the kernel keeps 15 characters of a name."""


class FlightRecorder(Profiler):
    """Started and stopped by the JVM's own `jcmd`, read by the JDK's own `jfr`. `instead` is why there is no better."""

    def __init__(self, process: ServerProcess, instead: ProfilerError) -> None:
        tool = jcmd(process)
        if tool is None:
            raise ProfilerError(
                "not measured: there is no jcmd next to the JVM's program, by which JFR is started",
                fix="run the contender with a JDK: a JRE cannot be recorded",
            )
        self._pid = process.pid
        self._jcmd = tool
        self._before: dict[int, ThreadTime] = {}
        self.name = "JFR"
        self.unseen = f"{BLIND}. JFR was used because async-profiler was not usable: {instead.sentence}"

    def prepare(self) -> None:
        """See that the JVM takes orders, and has a recorder."""
        reply = self._jcmd.tell("JFR.check")
        if "disabled" in reply:
            raise ProfilerError(
                f"not measured: the JVM has no recorder: {reply.strip()[-_SHOWN:]}",
                fix="run the contender without -XX:-FlightRecorder, by a JDK with the module jdk.jfr",
            )

    def start(self) -> None:
        """Begin a recording that has nothing but samples of stacks."""
        with tempfile.NamedTemporaryFile("w", prefix="touchstone-jvm-", suffix=".jfc", encoding="utf-8") as settings:
            settings.write(_SETTINGS)
            settings.flush()
            reply = self._jcmd.tell("JFR.start", "name=touchstone", f"settings={settings.name}")
        if "Started recording" not in reply:
            raise ProfilerError(
                f"not measured: JFR does not start: {reply.strip()[-_SHOWN:]}",
                fix="see the contender's log; the JDK needs its module jdk.jfr",
            )
        self._before = thread_times(self._pid)

    def stop(self) -> FoldedStacks:
        """End the recording and read it."""
        threads = spent_between(self._before, thread_times(self._pid))
        with tempfile.NamedTemporaryFile(prefix="touchstone-jvm-", suffix=".jfr") as out:
            reply = self._jcmd.tell("JFR.stop", "name=touchstone", f"filename={out.name}")
            if not Path(out.name).stat().st_size:
                raise ProfilerError(
                    f"not measured: JFR left nothing: {reply.strip()[-_SHOWN:]}",
                    fix="see that the JVM may write below /tmp, and that it was not ended",
                )
            document = self._read(out.name)
        recorded = recorded_samples(document)
        self.name = f"JFR, {recorded.event}"
        return folded(scaled_stacks(recorded, threads))

    def _read(self, path: str) -> dict[str, Any]:
        reader, events = str(self._jcmd.neighbour("jfr")), ",".join([_BY_CPU, *_BY_CLOCK])
        reply = ""
        try:
            done = subprocess.run(
                [reader, "print", "--json", "--stack-depth", "200", "--events", events, path],
                capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S, check=False,
            )  # fmt: skip
            reply = done.stderr.strip()[-_SHOWN:]
            read: dict[str, Any] = json.loads(done.stdout)
        except (OSError, subprocess.TimeoutExpired, ValueError) as error:
            raise ProfilerError(
                f"not measured: JFR's recording cannot be read: {reply or error}",
                fix="run the contender with a complete JDK",
            ) from error
        return read


@dataclass(frozen=True)
class Recording:
    """What a recording holds: stacks with their thread's kind first and the innermost frame last."""

    event: str
    """By what they were sampled."""
    stacks: Sequence[list[str]]


def recorded_samples(document: dict[str, Any]) -> Recording:
    """The samples in `jfr print --json`: those by CPU time where the JVM has them, else those by the clock."""
    events = document["recording"]["events"]
    by_cpu = [event["values"] for event in events if event["type"] == _BY_CPU]
    if by_cpu:
        return Recording(_BY_CPU, [_stack(values, values.get("eventThread")) for values in by_cpu])
    by_clock = [event["values"] for event in events if event["type"] in _BY_CLOCK]
    stacks = [_stack(values, values.get("sampledThread")) for values in by_clock]
    return Recording(" and ".join(_BY_CLOCK), [stack for stack in stacks if not _waits(stack)])


def scaled_stacks(recorded: Recording, threads: Sequence[ThreadTime]) -> Iterator[tuple[list[str], int]]:
    """Stacks with sample counts scaled to a profiler at `HERTZ` over the same CPU time.

    How often JFR samples depends on the kernel's tick and on how many threads run. So its stacks share what threads of
    Java used, and each thread of the JVM's own is one stack of what was not seen.
    """
    of_java = sum(thread.cpu_s for thread in threads if not _OF_THE_JVM.match(thread.name))
    for thread in threads:
        if _OF_THE_JVM.match(thread.name) and (samples := round(thread.cpu_s * HERTZ)):
            yield [thread_kind(thread.name), NOT_SEEN], samples
    counted = Counter(map(tuple, recorded.stacks)) or Counter([("thread", NOT_SEEN)])
    each = of_java * HERTZ / counted.total()
    for stack, count in counted.items():
        yield list(stack), max(1, round(count * each))


def _stack(values: dict[str, Any], thread: dict[str, Any] | None) -> list[str]:
    fields = thread or {}
    name = "virtual thread" if fields.get("virtual") else fields.get("javaName") or fields.get("osName") or ""
    trace = (values.get("stackTrace") or {}).get("frames") or []
    frames = [_name(frame) for frame in reversed(trace)]
    unseen = not trace or trace[0].get("type") == "Native"
    return [thread_kind(name), *frames, *([NOT_SEEN] if unseen else [])]


def _name(frame: dict[str, Any]) -> str:
    method = frame["method"]
    return of_method((method.get("type") or {}).get("name", "?"), method["name"])


def _waits(stack: Sequence[str]) -> bool:
    return stack[-1] == NOT_SEEN and (len(stack) < 3 or bool(_WAITS.search(stack[-2])))
