"""A series as a drawing: values with their intervals over commits, change points and breaks marked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from touchstone.history.changes import HistoryChange
from touchstone.history.series import FigureHistory, ShownFigure
from touchstone.report.format import percent, quantity, ratio
from touchstone.report.plots import canvas
from touchstone.vocabulary.figure import Unit

_MOST_NAMES = 5


def draw(series: FigureHistory, changes: Sequence[HistoryChange], name: str) -> Markup:
    """The drawing as inline SVG; `name` must be unique on the page."""
    figure, axes = canvas.new(230, left=64, bottom=40)
    values = series.values
    places = list(range(len(values)))
    for begin, end in series.segments:
        axes.plot(places[begin:end], values[begin:end], color=canvas.line_colour(1), linewidth=1.6, marker="o",
                  markersize=3.5, zorder=4)  # fmt: skip
    for place, (low, high) in enumerate(_bounds(series)):
        if low is not None and high is not None:
            axes.plot([place, place], [low, high], color=canvas.line_colour(1), linewidth=1.2, alpha=0.5, zorder=3)
    for one in series.breaks:
        axes.axvline(one.at - 0.5, color=canvas.MUTED, linestyle=(0, (3, 3)), linewidth=1.2, zorder=2)
    for change in changes:
        colour = canvas.WORSE if change.worse else canvas.BETTER
        axes.axvline(change.at - 0.5, color=colour, linewidth=2.0, zorder=5)
    drawn = [bound for pair in _bounds(series) for bound in pair if bound is not None] + values
    air = (max(drawn) - min(drawn)) * 0.15 or abs(max(drawn)) * 0.05 or 1.0
    axes.set_ylim(min(drawn) - air, max(drawn) + air)
    axes.set_xlim(-0.6, len(values) - 0.4)
    ticks = [min(drawn), (min(drawn) + max(drawn)) / 2, max(drawn)] if max(drawn) > min(drawn) else [max(drawn)]
    unit = series.first.about.unit
    axes.set_yticks(ticks, [_tick(value, series.shown, unit) for value in ticks])
    step = max(1, -(-len(values) // _MOST_NAMES))
    axes.set_xticks(places[::step], [entry.commit[:7] for entry in series.entries[::step]])
    canvas.label(axes, "", f"{series.first.about.title}, {series.shown}")
    summary = f"{len(values)} commits, {len(changes)} changes, {len(series.breaks)} breaks"
    return canvas.to_svg(figure, name, f"{series.first.about.title}, {series.first.place}", summary)


def _tick(value: float, shown: ShownFigure, unit: Unit) -> str:
    return quantity(value, unit) if shown is ShownFigure.VALUE else f"{value:.3f}"


def shown_words(value: float, series: FigureHistory) -> str:
    """A value of a series as text."""
    return quantity(value, series.first.about.unit) if series.shown is ShownFigure.VALUE else ratio(value)


def size_words(change: HistoryChange) -> str:
    """By how much a figure changed: `by 4.2 %`, which nobody can say of one that was 0."""
    return f"by {percent(round(abs(change.share), 4))}" if math.isfinite(change.share) else "from 0"


def _bounds(series: FigureHistory) -> list[tuple[float | None, float | None]]:
    match series.shown:
        case ShownFigure.RATIO:
            return [(entry.ratio_low, entry.ratio_high) for entry in series.entries]
        case ShownFigure.VALUE:
            return [(entry.low, entry.high) for entry in series.entries]
        case ShownFigure.TO_TARE:
            return [(None, None)] * len(series.entries)
