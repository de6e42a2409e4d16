"""The figures of the phase `drain`: the messages per second, and seconds."""

from __future__ import annotations

from touchstone.vocabulary.figure_shape import Better, CountWords, Figure, Unit

DRAIN_FIGURES = [
    Figure(
        "drain_rate",
        "Drain",
        Unit.PER_SECOND,
        Better.HIGHER,
        "drain",
        headline=True,
        scored=True,
        leads=True,
        counted=CountWords("drains", "messages per second", "fewer", "more"),
    ),
    Figure("drain_time", "First message to last", Unit.SECONDS, Better.LOWER, "drain"),
    Figure("drain_first_from_exec", "Exec to first message", Unit.SECONDS, Better.LOWER, "drain"),
    Figure("drain_last_from_exec", "Exec to last message", Unit.SECONDS, Better.LOWER, "drain"),
]
