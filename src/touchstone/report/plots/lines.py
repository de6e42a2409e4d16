"""What the line plots share: which rounds are drawn, boldly or faintly, and their legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.judge.judgement import Verdict
from touchstone.record.sample import Sample
from touchstone.report.format import quantity
from touchstone.report.plots import canvas
from touchstone.report.plots.canvas import line_colour, line_style
from touchstone.report.plots.marks import Reading, mark, mark_line
from touchstone.report.plots.panel import LegendEntry, thinned
from touchstone.report.plots.ticks import linear_ticks, log_ticks, set_ticks
from touchstone.report.plots.timeline import seconds_axis
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = list[tuple[float, float]]

TYPICAL = "Bold: the round nearest to the median; faint: the other rounds."


@dataclass(frozen=True)
class PlotLine:
    """One round of one contender."""

    contender: str
    colour: int
    points: Points
    typical: bool
    invalid: bool


def lines_of(view: View, place: PhaseAndLoad, figure: str, points: Callable[[Sample], Points]) -> list[PlotLine]:
    """The lines of a place; `figure` chooses each contender's typical round."""
    lines: list[PlotLine] = []
    for contender in view.measured:
        typical = view.typical(place, contender.name, figure)
        for sample in view.samples(place, contender.name):
            drawn = points(sample)
            if drawn:
                invalid = view.verdict(sample) is Verdict.INVALID
                shown = thinned(drawn, view.budget.points)
                lines.append(PlotLine(contender.name, view.colour(contender.name), shown, typical is sample, invalid))
    bold = [line for line in lines if line.typical]
    faint = [line for line in lines if not line.typical]
    return faint[: max(0, view.budget.lines - len(bold))] + bold


def draw(axes: Axes, lines: Sequence[PlotLine], x: Reading, y: Reading, *, steps: bool = False) -> None:
    """Draw the lines; an invalid contender's are dotted. The bold ones carry their values, read as `x` and `y` say."""
    style = "steps-pre" if steps else "default"
    for line in lines:
        drawn = axes.plot(
            [px for px, _ in line.points],
            [py for _, py in line.points],
            color=line_colour(line.colour),
            linestyle=(0, (1, 2)) if line.invalid else line_style(line.colour),
            linewidth=2.2 if line.typical else 0.8,
            alpha=1.0 if line.typical else 0.42,
            drawstyle=style,
            solid_joinstyle="round",
            zorder=4 if line.typical else 3,
        )
        mark_line(drawn, line.contender, line.points if line.typical else [], x, y)


def draw_over_time(
    lines: Sequence[PlotLine], unit: Unit, words: tuple[str, str], *, steps: bool
) -> tuple[Figure, Axes]:
    """A drawing of the lines over seconds from 0; `words` are those of its axes."""
    figure, axes = canvas.new(300)
    seconds_axis(axes, max(x for line in lines for x, _ in line.points))
    draw(axes, lines, Unit.SECONDS, unit, steps=steps)
    scale_y(axes, lines, unit, log=False)
    canvas.label(axes, *words)
    return figure, axes


def mark_x(axes: Axes, x: float, colour: str, contender: str, says: str) -> None:
    """A contender's triangle on the x axis."""
    drawn = axes.plot(
        [x],
        [0],
        linestyle="none",
        marker="^",
        markersize=8,
        color=colour,
        clip_on=False,
        zorder=6,
        transform=axes.get_xaxis_transform(),
    )
    mark(drawn, contender, says)


def mark_medians(axes: Axes, view: View, place: PhaseAndLoad, figure: str, *, unit: Unit, says: str) -> list[str]:
    """Mark each contender's median of the figure by a triangle. Returns `contender value` captions.

    `says` stands before the value at the triangle: `peak after`.
    """
    captions = []
    for contender in view.measured:
        estimate = view.estimate(place, contender.name, figure)
        if estimate is not None and estimate.median is not None:
            value = quantity(estimate.median, unit)
            mark_x(axes, estimate.median, line_colour(view.colour(contender.name)), contender.name, f"{says} {value}")
            captions.append(f"{contender.name} {value}")
    return captions


def legend_of(lines: Sequence[PlotLine]) -> list[LegendEntry]:
    """One entry a contender, in the order of the palette."""
    entries = {
        line.contender: LegendEntry(line.contender, line.colour, "invalid" if line.invalid else "") for line in lines
    }
    return sorted(entries.values(), key=lambda e: e.colour)


def spread(lines: Sequence[PlotLine]) -> float:
    """The ratio of the largest to the smallest positive y: whether a log scale is needed."""
    values = [y for line in lines for _, y in line.points if y > 0]
    return max(values) / min(values) if values else 1.0


def scale_y(axes: Axes, lines: Sequence[PlotLine], unit: Unit, *, log: bool) -> str:
    """Set the y axis to the lines. Returns `log scale` if it is one, for the axis' words."""
    values = [y for line in lines for _, y in line.points if y > 0]
    if not values:
        return ""
    if log:
        axes.set_yscale("log")
        axes.set_ylim(min(values) / 1.25, max(values) * 1.6)
        set_ticks(axes.yaxis, log_ticks(min(values) / 1.25, max(values) * 1.6, unit), unit)
        return "log scale"
    axes.set_ylim(0, max(values) * 1.14)
    set_ticks(axes.yaxis, linear_ticks(max(values) * 1.14, unit), unit)
    return ""
