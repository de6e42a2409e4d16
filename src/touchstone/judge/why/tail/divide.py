"""Divides one request's latency into parts, by its stamps and the server's timeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from touchstone.judge.why.tail.moments import Exchange, Moments, Span, Spans
from touchstone.judge.why.tail.parts import LatencyPart
from touchstone.record.tail import SENT, Place, Stamps

_SATURATED = 0.85
"""From this mean use of its CPUs on, a request that waits in a server waits for its CPU."""
_AFTER = 1000
"""µs by which an interval seen from outside may go beyond a request's own: a look comes up to one interval late."""
_OF_PLACE: Mapping[Place, LatencyPart] = {
    "absent": LatencyPart.OPENING,
    "unaccepted": LatencyPart.OPENING,
    "unread": LatencyPart.SOCKET,
    "read": LatencyPart.ASLEEP,
}
"""What a place says where nothing explains it. Unacknowledged bytes of a response are evidence by themselves."""


def divide(stamps: Stamps, moments: Moments) -> dict[str, float]:
    """Microseconds by part; their sum is the request's latency. A dependency's part has its name behind it.

    Evidence about this request alone comes first (its exchange with a dependency, its socket's connection), then what
    held up the whole server (quota, pause), then the CPU. What is left, where the request had been read and the server
    did nothing for it, was spent asleep. Nothing is made up: what no evidence covers is the rest.
    """
    parts: dict[str, float] = defaultdict(float)
    before = stamps.sent - stamps.due - stamps.late
    opening = min(stamps.opening, max(before, 0))
    parts[LatencyPart.OPENING] += opening
    parts[LatencyPart.CONNECTION] += max(before - opening, 0)
    places = moments.places(stamps.port, stamps.sent, stamps.last)
    request = _Request(
        parts,
        moments,
        _own_intervals(stamps, moments, places),
        places,
        moments.asleep(stamps.sent, stamps.last) or (stamps.last, stamps.last),
    )
    for at, (begin, end) in moments.cells(stamps.sent, stamps.last):
        request.divide_cell(at, begin, end)
    named = sum(parts.values())
    parts[LatencyPart.REST] += stamps.latency - named
    return {name: value for name, value in parts.items() if value}


def own_exchange(stamps: Stamps, moments: Moments) -> Exchange | None:
    """The request's exchange with a dependency: the longest that lies within it."""
    return moments.longest_within(moments.exchanges, stamps.sent - _AFTER, stamps.last + _AFTER)


def _own_intervals(stamps: Stamps, moments: Moments, places: Sequence[tuple[int, int, Place]]) -> dict[str, Spans]:
    """Intervals that are this request's own: each the longest of its kind that lies within it."""
    begin, end = stamps.sent - _AFTER, stamps.last + _AFTER
    found: dict[str, Spans] = {}
    sent = [(b, e) for b, e, place in places if place == SENT]
    # The generator has nothing to read as long as the server has the request. From then on, until the first part of the
    # response is read, the response waits for the generator.
    answered = moments.answered_from(stamps.port, stamps.sent, stamps.last)
    late = [(b, e) for b, e in moments.generator_waits.joined if abs(e - stamps.last) <= _AFTER]
    late += [(b, min(e, stamps.first)) for b, e in sent if b < stamps.first]
    late = [(max(b, answered), e) for b, e in late if e > answered]
    found[LatencyPart.GENERATOR] = Spans(late)
    found[LatencyPart.ACKNOWLEDGEMENT] = Spans((max(b, stamps.first), e) for b, e in sent if e > stamps.first)
    longest = own_exchange(stamps, moments)
    if longest is not None:
        found[f"{LatencyPart.DEPENDENCY} {longest[2]}"] = Spans([longest[:2]])
    for part, spans in ((LatencyPart.DISK, moments.disk), (LatencyPart.RECLAIM, moments.reclaim)):
        span = moments.longest_within(spans, begin, end)
        if span is not None:
            found[part] = Spans([span])
    return found


@dataclass
class _Request:
    """A request that is divided between one look and the next."""

    parts: dict[str, float]
    moments: Moments
    own: Mapping[str, Spans]
    """Intervals that are this request's own."""
    places: Sequence[tuple[int, int, Place]]
    asleep: Span
    """The request waited for something other than a CPU: the server had one, and slept at its begin and its end."""

    def divide_cell(self, at: int, begin: int, end: int) -> None:
        """Give each part its microseconds of an interval that ends with a look or before it."""
        moments, length = self.moments, end - begin
        left = float(length)

        def take(part: str, micros: float) -> None:
            nonlocal left
            taken = min(left, max(micros, 0.0))
            self.parts[part] += taken
            left -= taken

        for part, spans in self.own.items():
            for name, micros in self._in_detail(part, spans, at, begin, end):
                take(name, micros)
        take(LatencyPart.QUOTA, moments.quota.within(begin, end))
        take(LatencyPart.PAUSE, moments.stopped.within(begin, end))
        blocked = max(0, min(end, self.asleep[1]) - max(begin, self.asleep[0]))
        open_to_cpu = left * (1 - blocked / length)
        take(LatencyPart.FOREIGN, open_to_cpu * moments.taken(at))
        worked = open_to_cpu * _beyond_usual(moments, at)
        runtime = max(moments.runtime_share(at), moments.collecting.within(begin, end) / length)
        take(LatencyPart.RUNTIME, worked * runtime)
        take(LatencyPart.CPU, worked * (1 - runtime))
        whole = left / length
        for first, last, place in self.places:
            if place in _OF_PLACE:
                take(_OF_PLACE[place], whole * max(0, min(last, end) - max(first, begin)))

    def _in_detail(self, part: str, spans: Spans, at: int, begin: int, end: int) -> Iterator[tuple[str, float]]:
        """The microseconds of a part. A dependency's is divided by the work of its processes, if they are known."""
        dependency = self.moments.dependencies.get(part.removeprefix(f"{LatencyPart.DEPENDENCY} "))
        if dependency is None:
            yield part, spans.within(begin, end)
            return
        for first, last in spans.joined:
            if first < end and last > begin:
                for what, micros in dependency.during(at, max(first, begin), min(last, end)).items():
                    yield f"{part}: {what}", micros


def _beyond_usual(moments: Moments, at: int) -> float:
    """How much busier than usual the server was, from 0 to 1.

    Other requests use the CPU at any time. That explains a slow request only where they use more of it than they do
    on average, or where the server has none left. One CPU more is all that one request can use.
    """
    used, usual, cpus = moments.used(at), moments.usual, moments.evidence.cpus
    if usual >= _SATURATED * cpus:
        return used / cpus
    return min(1.0, max(0.0, (used - usual) / min(1.0, cpus - usual)))
