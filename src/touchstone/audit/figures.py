"""A publication in, its figures out: what a board shows of each entry, with the verdict of the audit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from touchstone.audit.audit import audit
from touchstone.audit.published import Publication, PublishedResult
from touchstone.audit.read import read_publication, refuse_the_same_twice
from touchstone.failure import TouchstoneError, UsageError
from touchstone.record.published import PublishedFigure, PublishedFigures

_INVALID = {"impossible-number", "nothing-answered", "checks-failed"}
"""Causes for which a value says nothing of its entry."""


def published_figures(paths: Sequence[Path], benchmark: str) -> tuple[PublishedFigures, list[str]]:
    """The figures of all files, and in words what of them was left out.

    Results of one entry under one test in several files are its repetitions. Raises UsageError if no file can be read
    as a result of the benchmark, if two are the same, or if they were measured on several machines.
    """
    results, left_out, read = _results(paths, benchmark)
    machines = list(dict.fromkeys(one.machine for one in results if one.machine))
    if len(machines) > 1:
        raise UsageError(
            f"these files were measured on several machines: {', '.join(machines)}",
            where=", ".join(map(str, read)),
            fix="import the files of each machine by themselves, with a folder of their own as --out",
        )
    measured = [one.measured_at for one in results if one.measured_at is not None]
    figures = list(_figures(results))
    if not figures:
        raise UsageError("no result in them has a rate", where=", ".join(map(str, read)), fix="name other files")
    return PublishedFigures(
        benchmark=results[0].tool,
        files=[path.name for path in read],
        measured_at=datetime.fromtimestamp(max(measured), UTC) if measured else None,
        machine=machines[0] if machines else None,
        figures=figures,
    ), left_out


def _results(paths: Sequence[Path], benchmark: str) -> tuple[list[PublishedResult], list[str], list[Path]]:
    results: list[PublishedResult] = []
    left_out: list[str] = []
    read: list[Path] = []
    errors: list[TouchstoneError] = []
    for path in paths:
        try:
            found = read_publication(path)
            if found.format.lower() != benchmark:
                raise UsageError(f"is of {found.format}", where=str(path), fix=f"name result files of {benchmark}")
        except TouchstoneError as error:
            errors.append(error)
            continue
        read.append(path)
        results += found.results
        left_out += found.left_out
    if not results:
        raise errors[0]
    refuse_the_same_twice(read)
    # A file that is published again holds the results of entries that were not measured again.
    left_out += [f"{error.where}: {error.what}" for error in errors]
    return list({repr(one): one for one in results}.values()), left_out, read


def _figures(results: list[PublishedResult]) -> Iterator[PublishedFigure]:
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    codes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one, faults in audit(Publication(results)).by_entry:
        codes[one.entry, one.test] |= {fault.code for fault in faults}
        for figure, value in _values(one):
            values[one.entry, one.test, figure].append(value)
    for (entry, test, figure), held in values.items():
        yield PublishedFigure(entry=entry, test=test, figure=figure, values=held, verdict=_verdict(codes[entry, test]))


def _values(one: PublishedResult) -> Iterator[tuple[str, float]]:
    rate, p99 = one.measured_rate, one.percentiles.get(0.99)
    if rate is not None and one.closed:
        yield "throughput", rate
    if p99 is not None and p99 > 0:
        yield "latency_p99", p99
    if rate is not None and one.cpus:
        yield "cpu_per_request", one.cpus / rate


def _verdict(codes: set[str]) -> Literal["valid", "suspect", "invalid"]:
    if codes & _INVALID:
        return "invalid"
    return "suspect" if codes else "valid"
