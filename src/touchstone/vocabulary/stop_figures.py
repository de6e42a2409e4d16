"""The figures of the phase `stop`: seconds from SIGTERM, and numbers of requests in one stop."""

from __future__ import annotations

from touchstone.vocabulary.figure_shape import Better, Figure, Unit

STOP_FIGURES = [
    Figure(
        "stop_s",
        "SIGTERM to end",
        Unit.SECONDS,
        Better.LOWER,
        "stop",
        headline=True,
        scored=True,
        leads=True,
        phrase="the time from SIGTERM to the end of the process",
    ),
    Figure(
        "stop_lost",
        "Requests lost",
        Unit.COUNT,
        Better.LOWER,
        "stop",
        headline=True,
        scored=True,
        phrase="the number of requests that were accepted and lost",
    ),
    Figure(
        "stop_stale",
        "Requests on closed connections",
        Unit.COUNT,
        Better.LOWER,
        "stop",
        headline=True,
        phrase="the number of requests whose connection was closed under them",
    ),
    Figure("stop_refused", "Requests refused", Unit.COUNT, Better.NEITHER, "stop"),
    Figure(
        "stop_streams_cut",
        "Streams cut",
        Unit.COUNT,
        Better.LOWER,
        "stop",
        headline=True,
        phrase="the number of open streams that were cut",
    ),
    Figure(
        "stop_gap",
        "Longest time without an answer",
        Unit.SECONDS,
        Better.LOWER,
        "stop",
        headline=True,
        phrase="the longest time without an answer while one process replaces another",
    ),
    Figure("stop_memory_both", "Memory of both processes", Unit.BYTES, Better.LOWER, "stop"),
    Figure("stop_unanswered_work", "Work done without an answer", Unit.COUNT, Better.LOWER, "stop"),
]
