"""Files of published results, each run in them read by the format that recognises it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from touchstone.audit.formats import (
    ab,
    artillery,
    autocannon,
    bombardier,
    drill,
    fortio,
    gatling,
    ghz,
    h2load,
    hey,
    http_arena,
    jmeter,
    k6,
    locust,
    oha,
    rewrk,
    siege,
    techempower,
    the_benchmarker,
    vegeta,
    wrk,
)
from touchstone.audit.formats.shape import CsvTable, JsonDocument, JsonLines, LackingError, PrintedText, Shape
from touchstone.audit.published import Publication, PublishedResult, without_zeros
from touchstone.audit.text import cleaned, decoded, parts, with_points
from touchstone.audit.unreadable import refused, refused_binary
from touchstone.failure import UsageError

_MODULES: tuple[Any, ...] = (
    techempower, the_benchmarker, k6, oha, vegeta, autocannon, bombardier, fortio, artillery, ghz, jmeter, gatling,
    locust, wrk, hey, ab, h2load, rewrk, drill, siege, http_arena,
)  # fmt: skip
SHAPES: tuple[Shape, ...] = tuple(shape for module in _MODULES for shape in module.SHAPES)
"""In the order in which they are asked."""
TOOLS = ", ".join(dict.fromkeys(shape.tool for shape in SHAPES))
_UNLIKE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, csv.Error)
"""What a reader meets where a file has a list for a table, a text for a number, or a number that is none."""
_LARGEST = 512 << 20
"""Bytes of a file: a few million requests, one by one."""


@dataclass(frozen=True)
class _RunFormat:
    """A run's part of a file, with what reads it under a name."""

    tool: str
    read: Callable[[str], Sequence[PublishedResult]]


def read_publication(path: Path) -> Publication:
    """Read a file: a result for each run in it. Raises UsageError if it cannot be read, or no format knows its shape.

    A run that is not as its format has it is left out and named, if the file holds others.
    """
    text = _text(path)
    try:
        found = list(_runs(text))
    except RecursionError as problem:
        raise UsageError("is nested too deeply", where=str(path), fix="name a result file") from problem
    except _UNLIKE as problem:
        raise UsageError(
            f"is not a complete document: {problem}",
            where=str(path),
            fix="write the file again: it may have been cut off",
        ) from problem
    runs, left_out = (
        [run for run in found if isinstance(run, _RunFormat)],
        [word for word in found if isinstance(word, str)],
    )
    results: list[PublishedResult] = []
    for at, run in enumerate(runs, 1):
        name = path.stem if len(runs) == 1 else f"{path.stem} #{at}"
        try:
            results += map(without_zeros, run.read(name))
        except _UNLIKE as problem:
            left_out.append(f"{name}: {run.tool} is not as its format has it: {_lacks(problem)}")
    if not results:
        raise _nothing(path, text, left_out if runs else [])
    return Publication(results, left_out)


def _lacks(problem: Exception) -> str:
    if isinstance(problem, LackingError):
        return str(problem)
    return f"no {problem}" if isinstance(problem, KeyError) else f"a value is of another kind: {problem}"


def _nothing(path: Path, text: str, reasons: list[str]) -> UsageError:
    if known := refused(str(path), text):
        return known
    if reasons:
        what = reasons[0].partition(": ")[2]
        return UsageError(what, where=str(path), fix="docs/audit.md lists the formats that can be read")
    if not text.strip():
        return UsageError("is empty", where=str(path), fix="run the tool again and read its error messages")
    return UsageError("has a shape that no known format has", where=str(path), fix=f"{TOOLS} are known: docs/audit.md")


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise UsageError(
                f"has more than {_LARGEST >> 20} MiB", where=str(path), fix="give the tool's summary of the run"
            )
        data = path.read_bytes()
    except OSError as problem:
        raise UsageError(f"cannot be read: {problem.strerror}", where=str(path), fix="name a result file") from problem
    try:
        return cleaned(decoded(data))
    except UnicodeDecodeError as problem:
        raise refused_binary(str(path), data) from problem


def _runs(text: str) -> Iterator[_RunFormat | str]:
    """The runs of a file in their order, and in words what of it is none."""
    events: list[Any] = []
    for part in parts(text):
        event = None if isinstance(part, str) else _shape_of(part, JsonLines)
        if events and (event is None or not event.recognises(events[0])):
            yield _events(events)
            events = []
        if event is not None:
            events.append(part)
        elif isinstance(part, str):
            yield from _tables(part) or _printed(part)
        elif (shape := _shape_of(part, JsonDocument)) is not None:
            yield _RunFormat(shape.tool, partial(shape.read, part))
        else:
            yield "a JSON document has a shape that no known format has"
    if events:
        yield _events(events)


def _shape_of(document: Any, kind: type[Any]) -> Any:
    return next((shape for shape in SHAPES if isinstance(shape, kind) and shape.recognises(document)), None)


def _events(events: list[Any]) -> _RunFormat:
    shape = _shape_of(events[0], JsonLines)
    return _RunFormat(shape.tool, partial(_one, shape.read, events))


def _one(read: Callable[[Any, str], PublishedResult], material: Any, name: str) -> list[PublishedResult]:
    return [read(material, name)]


def _tables(text: str) -> list[_RunFormat]:
    """One run for each place where a known table's column names occur. None if it is not a table."""
    head = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    columns = [column.strip() for column in next(csv.reader([head], delimiter=delimiter), [])]
    shape = next((one for one in SHAPES if isinstance(one, CsvTable) and one.columns <= set(columns)), None)
    if shape is None:
        return []
    bodies = f"\n{text.strip()}\n".split(f"\n{head}\n")[1:]
    rows = (csv.DictReader(io.StringIO(body), columns, delimiter=delimiter, restval="") for body in bodies)
    return [_RunFormat(shape.tool, partial(_one, shape.read, body)) for body in rows]


def _printed(text: str) -> Iterator[_RunFormat | str]:
    """A run for each place where a tool's output begins."""
    printed = [shape for shape in SHAPES if isinstance(shape, PrintedText)]
    found = [(start.start(), at, shape) for at, shape in enumerate(printed) for start in shape.starts.finditer(text)]
    found.sort(key=lambda one: one[:2])
    ends = [*(start for start, _, _ in found[1:]), len(text)]
    for (start, _, shape), end in zip(found, ends, strict=False):
        # An XML document is read as it is written.
        own = text[start:end] if shape.tool == "JMeter" else with_points(text[start:end])
        yield _RunFormat(shape.tool, partial(_one, shape.read, own))
    if not found and text.lstrip()[:1] in "{[":
        yield "a JSON document is not whole"


def refuse_the_same_twice(paths: Sequence[Path]) -> None:
    """One run that is given twice would be a series that does not scatter."""
    seen: dict[bytes, Path] = {}
    for path in paths:
        text = path.read_bytes()
        if text in seen:
            raise UsageError(
                f"has the same bytes as {seen[text]}",
                where=str(path),
                fix="give each run once: a copy is not a second run",
            )
        seen[text] = path


def read_together(paths: Sequence[Path]) -> Publication:
    """Several files of one format as one publication.

    Raises UsageError, also if their formats differ or two files are the same.
    """
    found = [read_publication(path) for path in paths]
    refuse_the_same_twice(paths)
    formats = list(dict.fromkeys(one.format for one in found))
    if len(formats) > 1:
        raise UsageError(
            f"these files are of several formats: {', '.join(formats)}",
            where=", ".join(map(str, paths)),
            fix="give the files of one tool: figures of different tools cannot be compared",
        )
    return Publication(
        [result for one in found for result in one.results],
        [word for one in found for word in one.left_out],
    )
