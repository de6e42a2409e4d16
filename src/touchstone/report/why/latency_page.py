"""Bars and a time line of slow requests for the page: places in percent of a width, no figure of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.judge.why.tail.explanation import ContenderLatency
from touchstone.judge.why.tail.parts import LatencyPart
from touchstone.record.evidence.tail import TailEvidence
from touchstone.record.tail import SERVER
from touchstone.report.why.latency import millis

_ORDER = list(LatencyPart)
_SLOWEST = 60
"""Slow requests on a time line: more would hide each other."""
_LEAST = 0.05
"""Percent of the width: shorter marks are drawn this long."""


@dataclass(frozen=True)
class Piece:
    """A part of a bar, or a mark on a lane; shares in percent."""

    left: float
    width: float
    number: int
    """Its colour: the part's place in the order of parts."""
    title: str


@dataclass(frozen=True)
class Bar:
    """One band's latency as a stacked bar, on the scale of the contender's slowest band."""

    name: str
    total: str
    pieces: list[Piece]


@dataclass(frozen=True)
class Lane:
    """One kind of event over the window."""

    name: str
    pieces: list[Piece]


def number_of(name: str) -> int:
    """The colour of a part: dependencies share one."""
    return next((place for place, part in enumerate(_ORDER) if name.startswith(part)), len(_ORDER) - 1)


def bars(one: ContenderLatency) -> list[Bar]:
    """A bar for each band of percentiles."""
    widest = max((band.total.seconds for band in one.bands), default=0.0)
    found = []
    for band in one.bands:
        left, pieces = 0.0, []
        for part in sorted(band.parts, key=lambda part: number_of(part.name)):
            width = 100 * max(part.seconds, 0.0) / widest
            title = f"{band.name}: {millis(part.seconds)} ms {part.name}"
            pieces.append(Piece(left, width, number_of(part.name), title))
            left += width
        found.append(Bar(band.name, millis(band.total.seconds), pieces))
    return found


def legend(one: ContenderLatency) -> list[tuple[int, str]]:
    """Colours and names of the parts that bars show."""
    names = {part.name for band in one.bands for part in band.parts if part.seconds >= 1e-5}
    return sorted((number_of(name), name) for name in names)


def lanes(evidence: TailEvidence) -> list[Lane]:
    """The window of one round: its slowest requests, and what stopped or held up the server meanwhile."""
    timeline = evidence.tail.timeline
    if len(timeline.looks) < 2:
        return []
    begin, end = timeline.looks[0][0], timeline.looks[-1][0]
    slowest = evidence.tail.slowest[:_SLOWEST]
    kinds = [
        ("slow requests", LatencyPart.ASLEEP, [(one.due, one.last) for one in slowest]),
        ("runtime stopped", LatencyPart.PAUSE, [(p.begin, p.end) for p in evidence.pauses if p.stops]),
        ("runtime collects", LatencyPart.RUNTIME, [(p.begin, p.end) for p in evidence.pauses if not p.stops]),
        ("CPU quota", LatencyPart.QUOTA, timeline.throttled),
        ("waits for a CPU", LatencyPart.FOREIGN, [(b, e) for b, e, process in timeline.cpu_waits if process == SERVER]),
        ("disk or memory", LatencyPart.DISK, [(b, e) for b, e, process, _ in timeline.sleeps if process == SERVER]),
        ("dependencies", LatencyPart.DEPENDENCY, [(b, e) for b, e, _, _ in timeline.exchanges]),
    ]
    found = []
    for name, part, spans in kinds:
        pieces = list(_marks(spans, (begin, end), _ORDER.index(part)))
        if pieces:
            found.append(Lane(name, pieces))
    return found


def _marks(spans: list[tuple[int, int]], window: tuple[int, int], number: int) -> Iterator[Piece]:
    begin, end = window
    # The longest are drawn: a page does not show thousands of marks.
    for first, last in sorted(spans, key=lambda span: span[0] - span[1])[: 4 * _SLOWEST]:
        if last < begin or first > end:
            continue
        left = max(first, begin) - begin
        width = min(last, end) - begin - left
        share = 100 / (end - begin)
        title = f"at {(first - begin) / 1e6:.3f} s for {(last - first) / 1e3:.1f} ms"
        yield Piece(left * share, max(width * share, _LEAST), number, title)
