"""The figures of the phase `bounds`: what a server allows one connection and one request."""

from __future__ import annotations

from touchstone.vocabulary.figure_shape import Better, Figure, Unit

BOUNDS_FIGURES = [
    Figure(
        "bounds_idle_s",
        "Idle connection closed after",
        Unit.SECONDS,
        Better.NEITHER,
        "bounds",
        headline=True,
        scored=True,
    ),
    Figure("bounds_silent_s", "Silent connection closed after", Unit.SECONDS, Better.NEITHER, "bounds"),
    Figure("bounds_half_sent_s", "Half a request head closed after", Unit.SECONDS, Better.NEITHER, "bounds"),
    Figure(
        "bounds_responses",
        "Responses on one connection",
        Unit.COUNT,
        Better.NEITHER,
        "bounds",
        headline=True,
        scored=True,
    ),
    Figure(
        "bounds_field", "Largest field of a request", Unit.BYTES, Better.NEITHER, "bounds", headline=True, scored=True
    ),
    Figure("bounds_fields", "Most fields of a request", Unit.COUNT, Better.NEITHER, "bounds"),
    Figure("bounds_target", "Longest target of a request", Unit.BYTES, Better.NEITHER, "bounds"),
]
