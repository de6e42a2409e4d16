"""Memory against the number of open connections: the slope is what a connection costs."""

from __future__ import annotations

from touchstone.record.sample import Sample
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, Points, draw, legend_of, lines_of, scale_y
from touchstone.report.plots.marks import mark
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.plots.ticks import linear_ticks, set_ticks
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit

_FIGURES = ("hold_rss_per_connection", "hold_anon_per_connection", "hold_kernel_per_connection", "hold_rss_base")


def build(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of the held connections."""
    lines = lines_of(view, place, "hold_rss_per_connection", _points)
    if not lines:
        return None
    figure, axes = canvas.new(300)
    draw(axes, lines, Unit.COUNT, Unit.BYTES)
    for line in lines:
        dots = axes.plot(*zip(*line.points, strict=True), "o", markersize=3.5, color=canvas.line_colour(line.colour))
        mark(dots, line.contender)
    scale_y(axes, lines, Unit.BYTES, log=False)
    most = max(x for line in lines for x, _ in line.points) * 1.04
    axes.set_xlim(0, most)
    set_ticks(axes.xaxis, linear_ticks(most, Unit.COUNT), Unit.COUNT)
    canvas.label(axes, "open connections", "resident memory")
    return Panel(
        title="Memory against connections",
        svg=canvas.to_svg(
            figure,
            slug(place, "hold"),
            f"{view.title(place)}: resident memory against open connections",
            "The slope of a line is the memory that one connection costs.",
        ),
        caption=f"RSS of the whole process tree at each level; the slope is what a connection costs. {TYPICAL}",
        legend=legend_of(lines),
        findings=view.findings_at(place, _FIGURES),
    )


def _points(sample: Sample) -> Points:
    levels = sample.hold.levels if sample.hold else []
    return sorted((float(level.connections), float(level.rss)) for level in levels if level.rss)
