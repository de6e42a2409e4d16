"""Rate against the memory limit: where a contender begins to suffer, and where it dies."""

from __future__ import annotations

from touchstone.record.sample import Sample
from touchstone.report.format import quantity
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, Points, draw, legend_of, lines_of, scale_y
from touchstone.report.plots.marks import mark
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.plots.ticks import log_ticks, set_ticks
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit


def build(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of the memory floor."""
    lines = lines_of(view, place, "floor_passes", _points)
    if not lines:
        return None
    figure, axes = canvas.new(300)
    draw(axes, lines, Unit.BYTES, Unit.PER_SECOND)
    for line in lines:
        dots = axes.plot(*zip(*line.points, strict=True), "o", markersize=4, color=canvas.line_colour(line.colour))
        mark(dots, line.contender)
    for contender in view.measured:
        for limit in _deaths(view, place, contender.name):
            cross = axes.plot(
                [limit],
                [0],
                "x",
                markersize=7,
                clip_on=False,
                zorder=5,
                color=canvas.line_colour(view.colour(contender.name)),
            )
            mark(cross, contender.name, f"died or did not start under {quantity(limit, Unit.BYTES)}")
    scale_y(axes, lines, Unit.PER_SECOND, log=False)
    limits = [x for line in lines for x, _ in line.points]
    limits += [limit for c in view.measured for limit in _deaths(view, place, c.name)]
    low, high = min(limits) / 1.2, max(limits) * 1.2
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    set_ticks(axes.xaxis, log_ticks(low, high, Unit.BYTES), Unit.BYTES)
    canvas.label(axes, "memory limit, log scale", "correct responses per second")
    return Panel(
        title="Rate against memory limit",
        svg=canvas.to_svg(
            figure,
            slug(place, "floor"),
            f"{view.title(place)}: rate against the memory limit",
            "A cross on the axis is a limit under which the contender died or did not start.",
        ),
        caption=f"A cross on the axis is a limit under which it died or did not start. {TYPICAL}",
        legend=legend_of(lines),
        findings=view.findings_at(place, ("floor_passes", "floor_lives")),
    )


def _points(sample: Sample) -> Points:
    tries = sample.floor.tries if sample.floor else []
    return sorted((float(t.limit), t.rate) for t in tries if t.lives and t.rate)


def _deaths(view: View, place: PhaseAndLoad, contender: str) -> list[float]:
    floors = [sample.floor for sample in view.samples(place, contender) if sample.floor is not None]
    return sorted({float(t.limit) for floor in floors for t in floor.tries if not t.lives})
