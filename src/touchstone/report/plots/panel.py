"""What a plot hands to a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from touchstone.report.causes import FindingGroup
from touchstone.report.view import PhaseAndLoad, View


@dataclass(frozen=True)
class LegendEntry:
    """A contender and its colour."""

    name: str
    colour: int
    note: str = ""


@dataclass(frozen=True)
class Panel:
    """A plot with its heading, how to read it, and the findings about its figures."""

    title: str
    svg: Markup
    caption: str
    legend: list[LegendEntry]
    findings: list[FindingGroup]
    wide: bool = False


PanelBuilder = Callable[[View, PhaseAndLoad], "Panel | None"]
"""Draws a panel for a place, or nothing if the place has no samples for it."""


def slug(place: PhaseAndLoad, what: str) -> str:
    """A name for a drawing, unique on the page."""
    return f"{what}-{place.phase}-{place.load or 'all'}"


def thinned(points: list[tuple[float, float]], budget: int) -> list[tuple[float, float]]:
    """At most about `budget` points of a line: the highest and lowest of each stretch, so that no peak is lost."""
    if len(points) <= budget:
        return points
    stretch = -(-len(points) * 2 // budget)
    kept: list[tuple[float, float]] = []
    for start in range(0, len(points), stretch):
        part = points[start : start + stretch]
        ends = {min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])}
        kept.extend(sorted(ends))
    return kept
