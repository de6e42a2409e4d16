"""The figures of a load's journeys and of its TLS handshakes."""

from __future__ import annotations

from touchstone.vocabulary.figure_shape import Better, CountWords, Figure, FigureGroup, Unit

TRAFFIC_FIGURES = [
    Figure(
        "journey_rate",
        "Journeys completed",
        Unit.PER_SECOND,
        Better.HIGHER,
        "load",
        counted=CountWords("completes", "journeys per second", "fewer", "more"),
        groups=frozenset({FigureGroup.SPEED}),
    ),
    Figure("handshakes", "Full TLS handshakes", Unit.COUNT, Better.NEITHER, "load"),
    Figure("resumptions", "Resumed TLS handshakes", Unit.COUNT, Better.NEITHER, "load"),
]
