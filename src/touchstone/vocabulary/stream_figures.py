"""The figures of streamed responses: when their events came, and which did not."""

from __future__ import annotations

from touchstone.vocabulary.figure_shape import Better, CountWords, Figure, FigureGroup, Unit

_LATENCY = frozenset({FigureGroup.LATENCY, FigureGroup.SPEED})
_TAIL = _LATENCY | {FigureGroup.TAIL}


def _time(name: str, title: str, phrase: str, *, tail: bool = False, headline: bool = False) -> Figure:
    groups = _TAIL if tail else _LATENCY
    return Figure(name, title, Unit.SECONDS, Better.LOWER, "load", headline=headline, phrase=phrase, groups=groups)


STREAM_FIGURES = [
    Figure(
        "events_per_s",
        "Events per second",
        Unit.PER_SECOND,
        Better.HIGHER,
        "load",
        headline=True,
        counted=CountWords("sends", "events per second", "fewer", "more"),
        groups=frozenset({FigureGroup.SPEED}),
    ),
    _time("first_event_p50", "First event p50", "the median time to the first event", headline=True),
    _time("first_event_p99", "First event p99", "the time to the first event, p99", tail=True),
    _time("event_gap_p50", "Gap between events p50", "the median gap between events"),
    _time("event_gap_p99", "Gap between events p99", "the gap between events, p99", tail=True, headline=True),
    _time("event_gap_max", "Longest gap between events", "the longest gap between events", tail=True),
    _time("event_delay_p50", "Delivery of an event p50", "the median time from an event's stamp to its arrival"),
    _time(
        "event_delay_p99", "Delivery of an event p99", "the time from an event's stamp to its arrival, p99", tail=True
    ),
    Figure("events_lost", "Events lost", Unit.COUNT, Better.LOWER, "load", phrase="the number of events lost"),
    Figure("events_doubled", "Events doubled", Unit.COUNT, Better.LOWER, "load"),
    Figure("events_disordered", "Events out of order", Unit.COUNT, Better.LOWER, "load"),
]
