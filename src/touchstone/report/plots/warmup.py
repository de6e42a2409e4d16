"""Throughput over time under load, from the first request on: how long a contender takes to reach its pace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from touchstone.record.sample import Sample
from touchstone.report.format import seconds
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, Line, Points, draw, legend_of, lines_of, scale_y
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.plots.timeline import seconds_axis, shade_phases
from touchstone.report.view import Place, View
from touchstone.vocabulary.figure import Unit


def build(view: View, place: Place) -> Panel | None:
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


def _far_apart(lines: Sequence[Line]) -> bool:
    """Whether the contenders' best paces need a log axis; a stall alone does not, for a log axis has no zero."""
    peaks = [max(y for _, y in line.points) for line in lines if not line.invalid]
    peaks = [peak for peak in peaks if peak > 0]
    return bool(peaks) and max(peaks) / min(peaks) > 20


@dataclass(frozen=True)
class _Stretch:
    """A part of the series: its length, and when it ended on the contender's own clock, in seconds under load."""

    end: float
    seconds: float
    ok: int
    phase: str


def _stretches(sample: Sample) -> list[_Stretch]:
    """Of the warm-up and the load. In slices a contender's clock stands still while others are loaded."""
    if sample.slices is not None:
        parts = [(one.end - one.begin, one.ok, one.lap_phase) for one in sample.slices.slices]
        ends = accumulate(length for length, _, _ in parts)
        return [_Stretch(end, *part) for end, part in zip(ends, parts, strict=True)]
    series = sample.result.series if sample.result else []
    begins = [0.0, *(point.t for point in series)]
    return [
        _Stretch(point.t, point.t - begin, point.ok, point.phase)
        for begin, point in zip(begins, series, strict=False)
        if point.phase in ("warmup", "load")
    ]


def points_of(sample: Sample) -> Points:
    """Correct responses per second, by the seconds under load at the end of each part of the series."""
    points = [(one.end, one.ok / one.seconds) for one in _stretches(sample) if one.seconds > 0]
    return points if len(points) > 1 else []


def _phases(view: View, place: Place) -> list[tuple[float, str]]:
    longest = max(map(_stretches, view.samples(place)), key=lambda found: found[-1].end if found else 0.0)
    return [(one.end, one.phase) for one in longest]


def _shapes(view: View, place: Place) -> str:
    """What the judge says of the shape of each contender's typical round."""
    parts = []
    for contender in view.measured:
        typical = view.typical(place, contender.name, "throughput")
        for steady in view.judgement.steady:
            if typical is not None and steady.sample == typical.id:
                since = f" until {seconds(steady.steady_from_s)}" if steady.steady_from_s else ""
                parts.append(f"{contender.name}: {steady.shape}{since}")
    return f"Shape: {'; '.join(parts)}." if parts else ""
