"""Every start as a dot: exec to the first valid response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.judge.judgement import Verdict
from touchstone.report.format import quantity
from touchstone.report.plots import canvas
from touchstone.report.plots.marks import mark
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.plots.ticks import log_ticks, set_ticks
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _TOP, _BOTTOM = 40.0, 4.0, 44.0


def build(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of the start times."""
    rows = {c.name: _starts(view, place, c.name) for c in view.measured}
    rows = {name: starts for name, starts in rows.items() if starts}
    if not rows:
        return None
    left = canvas.name_width(rows)
    figure, axes = canvas.new(_TOP + _ROW * len(rows) + _BOTTOM, left=left, top=_TOP, bottom=_BOTTOM)
    _frame(axes, [start for starts in rows.values() for start, _ in starts], len(rows))
    for row, (name, starts) in enumerate(rows.items()):
        middle = row + 0.5
        title = axes.text(
            -left / (canvas.WIDTH - left - 12),
            middle,
            canvas.shortened(name, left),
            transform=axes.get_yaxis_transform(),
            fontsize=canvas.TEXT,
            color=canvas.INK,
            va="center",
        )
        mark(title, name)
        colour = canvas.line_colour(view.colour(name))
        for cold in (False, True):
            chosen = [start for start, is_cold in starts if is_cold is cold]
            dots = axes.plot(
                chosen,
                [middle + _jitter(i) for i in range(len(chosen))],
                linestyle="none",
                marker="o",
                markersize=6,
                markerfacecolor="none" if cold else colour,
                markeredgecolor=colour,
                markeredgewidth=1.2 if cold else 0,
                alpha=0.55 if not cold else 0.9,
            )
            mark(dots, name)
        estimate = view.estimate(place, name, "boot_first_response")
        if estimate is not None and estimate.median is not None and estimate.verdict is not Verdict.INVALID:
            ends = [middle - 0.36, middle + 0.36]
            bar = axes.plot([estimate.median] * 2, ends, color=canvas.INK, linewidth=2, zorder=5)
            mark(bar, name, f"median {quantity(estimate.median, Unit.SECONDS)} of {len(starts)} starts")
    canvas.label(axes, "exec to first valid response, log scale", "")
    total = sum(len(starts) for starts in rows.values())
    cold_too = any(cold for starts in rows.values() for _, cold in starts)
    return Panel(
        title="Every start",
        svg=canvas.to_svg(
            figure, slug(place, "starts"), "Time from exec to first response", f"{total} starts, a dot each."
        ),
        caption=f"{total} starts, a dot each; the bar is the median."
        + (" Hollow: cold page cache." if cold_too else ""),
        legend=[],
        findings=view.findings_at(place, ("boot_first_response", "boot_port_open", "boot_first_response_cold")),
    )


def _starts(view: View, place: PhaseAndLoad, contender: str) -> list[tuple[float, bool]]:
    return [
        (start.first_response_s, start.cold_cache)
        for sample in view.samples(place, contender)
        for start in (sample.boot.runs if sample.boot else [])
        if start.first_response_s
    ]


def _frame(axes: Axes, starts: list[float], rows: int) -> None:
    low, high = min(starts) / 1.35, max(starts) * 1.35
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(rows, 0)
    axes.set_yticks([])
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x", color=canvas.GRID, linewidth=0.8)
    set_ticks(axes.xaxis, log_ticks(low, high, Unit.SECONDS), Unit.SECONDS)


def _jitter(index: int) -> float:
    """Spread dots by the golden ratio. Neighbours separate, and the drawing is reproducible."""
    return ((index * 0.618034) % 1.0 - 0.5) * 0.36
