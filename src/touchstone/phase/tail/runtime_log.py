"""The pauses of a runtime, from its own log."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from touchstone.bench.base import Built
from touchstone.isolation.process import ServerProcess
from touchstone.phase.profile.application import OF_THE_JVM
from touchstone.phase.profile.heap import with_gc_trace
from touchstone.phase.profile.jvm import is_jvm
from touchstone.record.evidence.tail import RuntimePause

_SAFEPOINT = re.compile(r'^\[(?P<at>\d+)ns\] *Safepoint "(?P<name>[^"]+)".*Total: *(?P<took>\d+) ns', re.MULTILINE)
_GO = re.compile(
    r"^gc \d+ @(?P<at>[\d.]+)s \d+%: (?P<stop>[\d.]+)\+(?P<mark>[\d.]+)\+(?P<end>[\d.]+) ms clock", re.MULTILINE
)
_GO_BEGINS_S = 0.001
"""A Go program counts from its runtime's start, about a millisecond after exec."""


_HOOKS = Path(__file__).with_name("hooks")
_HOOK = re.compile(r"^(?P<pid>\d+) (?P<at>\d+) (?P<took>\d+) (?P<name>.+)$", re.MULTILINE)
_NODE, _PYTHON = frozenset({"javascript", "typescript"}), "python"


def with_log(built: Built, language: str, log: Path) -> Built:
    """The build, to be started so that its runtime logs its pauses."""
    if language in OF_THE_JVM:
        # `tn`: nanoseconds of CLOCK_MONOTONIC, which is the engine's clock. The quotes are for paths: the outer ones
        # keep spaces together, and the inner ones keep colons out of the option's own syntax.
        option = f"'-Xlog:safepoint=info:file=\"{log}\":tn:filecount=0'"
        options = [built.env.get("JAVA_TOOL_OPTIONS", ""), option]
        return replace(built, env={**built.env, "JAVA_TOOL_OPTIONS": " ".join(filter(None, options))})
    if language == "go":
        return with_gc_trace(built)
    if built.image is not None:
        return built  # the hooks' files are not in it
    if language in _NODE:
        return _hooked(built, log, "NODE_OPTIONS", f'--require "{_HOOKS / "node.cjs"}"', " ")
    if language == _PYTHON:
        return _hooked(built, log, "PYTHONPATH", str(_HOOKS / "python"), os.pathsep)
    return built


def _hooked(built: Built, log: Path, variable: str, value: str, between: str) -> Built:
    """The build with the hook in front of the variable's own value, and the log's path."""
    values = between.join(filter(None, [value, built.env.get(variable, "")]))
    return replace(built, env={**built.env, variable: values, "TOUCHSTONE_PAUSES": str(log.resolve())})


def read_pauses(
    process: ServerProcess, language: str, log: Path, origin_s: float
) -> tuple[list[RuntimePause], str | None]:
    """The pauses, or what is not seen, and why. Times in µs since the origin (seconds of CLOCK_MONOTONIC)."""
    if is_jvm(process):
        try:
            text = log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return [], "the runtime's pauses: the JVM wrote no log to the run's folder"
        return list(hotspot_pauses(text, origin_s)), None
    if language == "go":
        text = process.log.read_text(encoding="utf-8", errors="replace")
        return list(go_collections(text, process.exec_s + _GO_BEGINS_S - origin_s)), None
    if language in _NODE or language == _PYTHON:
        try:
            return list(hooked_collections(log.read_text(encoding="utf-8", errors="replace"), origin_s)), None
        except OSError:
            return [], "the collector's pauses: the runtime did not load the hook that logs them"
    return [], None


def hooked_collections(log: str, origin_s: float) -> Iterator[RuntimePause]:
    """Each collection that a hook logged since the origin. It stops the process: of several workers only one."""
    origin_ns = round(origin_s * 1e9)
    found = [one for one in _HOOK.finditer(log) if int(one["at"]) >= origin_ns]
    single = len({one["pid"] for one in found}) == 1
    for one in found:
        end = (int(one["at"]) - origin_ns) / 1e3
        begin = end - int(one["took"]) / 1e3
        yield RuntimePause(begin=round(begin), end=round(end), stops=single, name=one["name"])


def hotspot_pauses(log: str, origin_s: float) -> Iterator[RuntimePause]:
    """Each safepoint, from the request to stop until threads go on."""
    for found in _SAFEPOINT.finditer(log):
        end = int(found["at"]) / 1e3 - origin_s * 1e6
        yield RuntimePause(begin=round(end - int(found["took"]) / 1e3), end=round(end), stops=True, name=found["name"])


def go_collections(log: str, begins_s: float) -> Iterator[RuntimePause]:
    """Each collection: the two moments in which the program stands still, and the marking between them."""
    for found in _GO.finditer(log):
        at = (begins_s + float(found["at"])) * 1e6
        for stops, part in ((True, "stop"), (False, "mark"), (True, "end")):
            end = at + float(found[part]) * 1e3
            yield RuntimePause(begin=round(at), end=round(end), stops=stops, name="collection")
            at = end
