"""Latency against the offered rate, step by step."""

from __future__ import annotations

from touchstone.record.sample import Sample
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, Points, draw, legend_of, lines_of, scale_y
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.plots.ticks import linear_ticks, set_ticks
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit


def build(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of a stepped load."""
    lines = lines_of(view, place, "throughput", _points)
    if not lines:
        return None
    figure, axes = canvas.new(300)
    draw(axes, lines, Unit.PER_SECOND, Unit.SECONDS)
    scale_y(axes, lines, Unit.SECONDS, log=True)
    fastest = max(x for line in lines for x, _ in line.points) * 1.03
    axes.set_xlim(0, fastest)
    set_ticks(axes.xaxis, linear_ticks(fastest, Unit.PER_SECOND), Unit.PER_SECOND)
    canvas.label(axes, "offered rate", "latency p99, log scale")
    return Panel(
        title="Latency against rate",
        svg=canvas.to_svg(
            figure, slug(place, "rate"), f"{view.title(place)}: p99 latency against the offered rate", ""
        ),
        caption=f"p99 from the intended send time at each offered rate. {TYPICAL}",
        legend=legend_of(lines),
        findings=view.findings_at(place, ("throughput",)),
    )


def _points(sample: Sample) -> Points:
    if sample.result is None:
        return []
    return [(s.rate, s.latency.p99) for s in sample.result.steps if s.latency.p99]
