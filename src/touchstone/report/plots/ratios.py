"""Interval dot plot: every headline figure as a ratio to the baseline, on a log axis, with the equivalence margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.judge.judgement import Comparison
from touchstone.report.format import TIMES, percent, ratio, ratio_interval
from touchstone.report.plots import canvas
from touchstone.report.plots.marks import mark
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.plots.ticks import spaced
from touchstone.report.view import PhaseAndLoad, View
from touchstone.report.words import direction, sign
from touchstone.vocabulary.figure import FIGURES, Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_COLOURS = {
    "better": canvas.BETTER,
    "worse": canvas.WORSE,
    "equivalent": canvas.EQUIVALENT,
    "undecided": canvas.UNDECIDED,
    "invalid": canvas.INVALID,
    "none": canvas.MUTED,
}
_MARKERS = {"equivalent": "s", "undecided": "o", "invalid": "X", "better": "o", "worse": "o"}
_ROW = 23.0
_HEADING = 32.0
_TOP, _BOTTOM, _RIGHT, _INDENT = 2.0, 34.0, 116.0, 12.0
_TICKS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
_POWERS_OF_TWO = [2.0**exponent for exponent in range(-6, 7)]
_CLOSE_TICKS = [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2]


@dataclass(frozen=True)
class _RatioGroup:
    figure: Figure
    comparisons: list[Comparison]


def build(view: View, places: list[PhaseAndLoad]) -> Panel | None:
    """The panel of the headline comparisons of one or several places; nothing if nothing was compared."""
    groups = [group for place in places for group in _groups(view, place)]
    if not groups:
        return None
    rows = sum(len(g.comparisons) for g in groups)
    height = _TOP + rows * _ROW + len(groups) * _HEADING + _BOTTOM
    left = canvas.name_width(c.contender for g in groups for c in g.comparisons) + _INDENT
    figure, axes = canvas.new(height, left=left, right=_RIGHT, top=_TOP, bottom=_BOTTOM)
    _frame(axes, groups, height - _TOP - _BOTTOM, view.judgement.margin)
    y = 0.0
    for group in groups:
        y += _HEADING
        _heading(axes, group.figure, y - 9, left)
        for comparison in group.comparisons:
            y += _ROW
            _row(axes, comparison, y - _ROW / 2, left)
    title = f"Against {groups[0].comparisons[0].baseline}"
    described = "; ".join(
        f"{g.figure.title}, {c.contender}: {ratio(c.ratio)} ({sign(c).word})" for g in groups for c in g.comparisons
    )
    return Panel(
        title=title,
        svg=canvas.to_svg(figure, slug(places[0], "ratios"), f"{title}: ratios with their intervals", described),
        caption=(
            f"Ratio to the baseline with its {percent(view.judgement.confidence)} interval, log scale. "
            f"The band is the margin of {percent(view.judgement.margin)} within which a difference does not matter. "
            f"Hollow: undecided; square: equivalent.{_left_out(view, places)}"
        ),
        legend=[],
        findings=[],
    )


def _groups(view: View, place: PhaseAndLoad) -> list[_RatioGroup]:
    headline = view.figures(place, headline=True)
    names = [c.name for c in view.contenders]
    all_groups = (_RatioGroup(f, [c for n in names if (c := view.comparison(place, n, f.name))]) for f in headline)
    groups = [_RatioGroup(g.figure, [c for c in g.comparisons if c.ratio]) for g in all_groups]
    return [g for g in groups if g.comparisons]


def _left_out(view: View, places: list[PhaseAndLoad]) -> str:
    """Contenders that the plot lacks, named so that none is missed silently."""
    missing: dict[str, str] = {}
    drawn: set[str] = set()
    for place in places:
        for figure in view.figures(place, headline=True):
            for contender in view.contenders:
                comparison = view.comparison(place, contender.name, figure.name)
                if comparison is not None and comparison.ratio:
                    drawn.add(contender.name)
                elif comparison is not None:
                    missing[contender.name] = sign(comparison).word
    names = [f"{name} ({word})" for name, word in missing.items() if name not in drawn]
    return f" Not drawn: {', '.join(names)}." if names else ""


def _frame(axes: Axes, groups: list[_RatioGroup], depth: float, margin: float) -> None:
    """The axis: wide enough for all intervals, with the line at 1 and the margin's band."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator  # noqa: PLC0415

    ends = [v for g in groups for c in g.comparisons for v in (c.ratio, c.low, c.high) if v and math.isfinite(v)]
    low, high = min([*ends, 0.87]), max([*ends, 1.15])
    air = (high / low) ** 0.05
    low, high = low / air, high * air
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(depth, 0)
    wanted = _CLOSE_TICKS if high / low < 3.5 else _POWERS_OF_TWO if high / low < 70 else _TICKS
    width = axes.get_position().width * canvas.WIDTH
    pixels = width / math.log(high / low)
    ticks = spaced([t for t in wanted if low <= t <= high], 1, lambda tick: math.log(tick) * pixels, _text)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FixedFormatter([_text(t) for t in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(NullLocator())
    axes.grid(visible=False)
    axes.grid(visible=True, axis="x", color=canvas.GRID, linewidth=0.8)
    axes.axvspan(1 / (1 + margin), 1 + margin, color=canvas.BAND, linewidth=0, zorder=0.5)
    axes.axvline(1, color=canvas.MUTED, linewidth=1.2, zorder=1)


def _text(tick: float) -> str:
    return f"{tick:.3g}{TIMES}"


def _heading(axes: Axes, figure: Figure, y: float, left: float) -> None:
    behind = {"facecolor": canvas.PAPER, "edgecolor": "none", "pad": 1.0}
    words = _beside(axes, figure.title, y, -left, canvas.INK)
    words.set(fontweight="bold", bbox=behind)
    _beside(axes, direction(figure), y, None, canvas.MUTED).set(fontsize=canvas.TEXT - 1)


def _row(axes: Axes, comparison: Comparison, y: float, left: float) -> None:
    how = sign(comparison)
    colour = _COLOURS[how.kind]
    name = _beside(axes, canvas.shortened(comparison.contender, left - _INDENT), y, _INDENT - left, canvas.INK)
    mark(name, comparison.contender)
    if comparison.ratio is None:
        return
    if comparison.low is not None and comparison.high is not None:
        # A bound that nobody knows reaches out of the plot.
        left, right = axes.get_xlim()
        bounds = [max(comparison.low, left), min(comparison.high, right)]
        whisker = axes.plot(bounds, [y, y], color=colour, linewidth=2.4, solid_capstyle="round", zorder=3)
        mark(whisker, comparison.contender)
    point = axes.plot(
        [comparison.ratio],
        [y],
        linestyle="none",
        marker=_MARKERS.get(how.kind, "o"),
        markersize=7,
        markeredgecolor=colour,
        markerfacecolor=canvas.PAPER if how.kind == "undecided" else colour,
        markeredgewidth=1.8,
        zorder=4,
    )
    within = ratio_interval(comparison.low, comparison.high)
    says = f"{FIGURES[comparison.figure].title} {ratio(comparison.ratio)}{f', {within}' if within else ''}: {how.word}"
    mark(point, comparison.contender, says)
    mark(_beside(axes, f"{ratio(comparison.ratio)} {how.word}", y, None, colour), comparison.contender)


def _beside(axes: Axes, words: str, y: float, x: float | None, colour: str) -> Text:
    """Words at `x` pixels from the axes' left end, or at the drawing's right end."""
    width = axes.get_position().width * canvas.WIDTH
    return axes.text(
        x / width if x is not None else 1 + _RIGHT / width,
        y,
        words,
        transform=axes.get_yaxis_transform(),
        fontsize=canvas.TEXT,
        color=colour,
        va="center",
        ha="left" if x is not None else "right",
    )
