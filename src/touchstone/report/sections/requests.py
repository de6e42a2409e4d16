"""The requests of mixed loads one by one, and their journeys: what the figures of the whole load are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from touchstone.record.distribution import Distribution
from touchstone.record.engine import LoadResult
from touchstone.report.format import NOTHING, seconds
from touchstone.report.sections.section import PageSection
from touchstone.report.view import PhaseAndLoad, View


@dataclass(frozen=True)
class RequestRow:
    """One request, or one journey, of a contender. Latencies are those of the rounds, as a range."""

    contender: str
    name: str
    right: int
    failed: int
    p50: str
    p99: str
    journey: bool = False


@dataclass(frozen=True)
class LoadRequests:
    """A load's rows."""

    title: str
    rows: list[RequestRow]


def build(view: View) -> Iterator[PageSection]:
    """A table for each load that sends requests of more than one kind."""
    tables = [LoadRequests(view.title(place), rows) for place in view.loads() if (rows := _rows(view, place))]
    if tables:
        yield PageSection("requests", "Request by request", "requests.html", {"tables": tables})


def _rows(view: View, place: PhaseAndLoad) -> list[RequestRow]:
    rows: list[RequestRow] = []
    for contender in view.measured:
        samples = view.samples(place, contender.name)
        results = [sample.result for sample in samples if sample.result is not None]
        rows += _of_contender(contender.name, results)
    return rows


def _of_contender(contender: str, results: Sequence[LoadResult]) -> Iterator[RequestRow]:
    if not results or len(results[0].requests) < 2:
        return
    for rows in zip(*(result.requests for result in results), strict=False):
        right, failed = sum(row.ok for row in rows), sum(row.errors for row in rows)
        latency = [row.latency for row in rows]
        yield RequestRow(contender, rows[0].name, right, failed, *_ranges(latency))
    for journeys in zip(*(result.journeys for result in results), strict=False):
        right, failed = sum(one.completed for one in journeys), sum(one.failed for one in journeys)
        duration = [one.duration for one in journeys]
        yield RequestRow(contender, f"{journeys[0].name}, whole", right, failed, *_ranges(duration), journey=True)


def _ranges(distributions: Sequence[Distribution]) -> tuple[str, str]:
    return _range([one.p50 for one in distributions]), _range([one.p99 for one in distributions])


def _range(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    ends = [seconds(min(known)), seconds(max(known))] if known else [NOTHING]
    return ends[0] if len(set(ends)) == 1 else f"{ends[0]} to {ends[1]}"
