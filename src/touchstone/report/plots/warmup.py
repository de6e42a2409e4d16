"""Throughput over time under load, from the first request on: how long a contender takes to reach its pace."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.judge.reading.stretches import stretches
from touchstone.record.sample import Sample
from touchstone.report.format import seconds
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, PlotLine, Points, draw, legend_of, lines_of, scale_y
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.plots.timeline import seconds_axis, shade_phases
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit


def build(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of a load's throughput over time."""
    lines = lines_of(view, place, "throughput", points_of)
    if not lines:
        return None
    figure, axes = canvas.new(300)
    seconds_axis(axes, max(x for line in lines for x, _ in line.points))
    draw(axes, lines, Unit.SECONDS, Unit.PER_SECOND)
    how = scale_y(axes, lines, Unit.PER_SECOND, log=_far_apart(lines))
    shade_phases(axes, _phases(view, place))
    canvas.label(
        axes,
        "seconds under load, from the first request on",
        ", ".join(["correct responses per second", *([how] if how else [])]),
    )
    return Panel(
        title="Throughput over time",
        svg=canvas.to_svg(
            figure, slug(place, "warmup"), f"{view.title(place)}: throughput over time", _shapes(view, place)
        ),
        caption=f"Only correct responses count. {TYPICAL} {_shapes(view, place)}".strip(),
        legend=legend_of(lines),
        findings=view.findings_at(place, ("throughput", "time_to_steady")),
    )


def _far_apart(lines: Sequence[PlotLine]) -> bool:
    """Whether the contenders' best paces need a log axis. A stall alone does not, for a log axis has no zero."""
    peaks = [max(y for _, y in line.points) for line in lines if not line.invalid]
    peaks = [peak for peak in peaks if peak > 0]
    return bool(peaks) and max(peaks) / min(peaks) > 20


def points_of(sample: Sample) -> Points:
    """Correct responses per second, by seconds under load at the end of each interval."""
    points = [(one.end, one.ok / one.seconds) for one in stretches(sample) if one.seconds > 0]
    return points if len(points) > 1 else []


def _phases(view: View, place: PhaseAndLoad) -> list[tuple[float, str]]:
    longest = max(map(stretches, view.samples(place)), key=lambda found: found[-1].end if found else 0.0)
    return [(one.end, one.phase) for one in longest]


def _shapes(view: View, place: PhaseAndLoad) -> str:
    """What the judge says of the shape of each contender's typical round."""
    parts = []
    for contender in view.measured:
        typical = view.typical(place, contender.name, "throughput")
        for steady in view.judgement.steady:
            if typical is not None and steady.sample == typical.id:
                since = f" until {seconds(steady.steady_from_s)}" if steady.steady_from_s else ""
                parts.append(f"{contender.name}: {steady.shape}{since}")
    return f"Shape: {'; '.join(parts)}." if parts else ""
