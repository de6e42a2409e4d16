"""What a service does at each offered rate, from nearly idle to past its capacity: latency, CPU per request, memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from touchstone.record.evidence.capacity import CapacityTrial
from touchstone.record.sample import Sample
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, Points, draw, legend_of, lines_of, mark_medians, scale_y
from touchstone.report.plots.marks import mark
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.plots.ticks import linear_ticks, set_ticks
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit

_ALIKE = 0.05
"""Trials whose rates differ by less are one point: the search tries the edge again and again, where each trial holds or
fails by luck. The curve between the edges has points as far apart."""


@dataclass(frozen=True)
class _Curve:
    """One plot: the value taken from each trial, and its style."""

    what: str
    title: str
    axis: str
    unit: Unit
    log: bool
    value: Callable[[CapacityTrial], float | None]


def build_latency(view: View, place: PhaseAndLoad) -> Panel | None:
    """Latency at the objective's percentile, with the bound."""
    found = next((s.capacity for c in view.measured for s in view.samples(place, c.name) if s.capacity), None)
    if found is None:
        return None
    name, bound = next(((n, b) for n, b in found.bounds.items() if n != "errors"), ("p99", 0.0))
    curve = _Curve(
        "latency", f"Latency {name} against offered rate", f"latency {name}", Unit.SECONDS, True, _latency(name)
    )
    return _panel(view, place, curve, bound)


def build_cpu(view: View, place: PhaseAndLoad) -> Panel | None:
    """CPU per request."""
    curve = _Curve(
        "cpu",
        "CPU per request against offered rate",
        "CPU time per request",
        Unit.SECONDS,
        False,
        lambda t: t.cpu_per_request,
    )
    return _panel(view, place, curve)


def build_memory(view: View, place: PhaseAndLoad) -> Panel | None:
    """Memory."""
    curve = _Curve(
        "memory",
        "Memory against offered rate",
        "resident memory",
        Unit.BYTES,
        False,
        lambda t: None if t.rss_peak is None else float(t.rss_peak),
    )
    return _panel(view, place, curve)


def _latency(name: str) -> Callable[[CapacityTrial], float | None]:
    return lambda trial: trial.latency.get(name)


def _panel(view: View, place: PhaseAndLoad, curve: _Curve, bound: float = 0.0) -> Panel | None:
    lines = lines_of(view, place, "capacity", lambda sample: _points(sample, curve.value))
    if not lines:
        return None
    figure, axes = canvas.new(300)
    draw(axes, lines, Unit.PER_SECOND, curve.unit)
    for line in lines:
        if line.typical:
            colour = canvas.line_colour(line.colour)
            mark(axes.plot(*zip(*line.points, strict=True), "o", markersize=3.5, color=colour), line.contender)
    scale = scale_y(axes, lines, curve.unit, log=curve.log)
    fastest = max(x for line in lines for x, _ in line.points) * 1.03
    axes.set_xlim(0, fastest)
    set_ticks(axes.xaxis, linear_ticks(fastest, Unit.PER_SECOND), Unit.PER_SECOND)
    canvas.label(axes, "offered rate", f"{curve.axis}, {scale}" if scale else curve.axis)
    if bound:
        axes.axhline(bound, color=canvas.MUTED, linewidth=1.2, linestyle=(0, (4, 3)), zorder=2)
    capacities = mark_medians(axes, view, place, "capacity", unit=Unit.PER_SECOND, says="capacity")
    addition = f" Capacity (triangle): {', '.join(capacities)}." if capacities else ""
    addition += " The dashed line is the objective's bound." if bound else ""
    return Panel(
        title=curve.title,
        svg=canvas.to_svg(
            figure,
            slug(place, f"capacity-{curve.what}"),
            f"{view.title(place)}: {curve.title.lower()}",
            addition.strip(),
        ),
        caption=f"Each point is a trial of an open loop, from nearly idle to past the capacity. {TYPICAL}{addition}",
        legend=legend_of(lines),
        findings=view.findings_at(place, ("capacity",)),
    )


def _points(sample: Sample, value: Callable[[CapacityTrial], float | None]) -> Points:
    """The trials by rate. Neighbouring trials are merged into one point at their medians."""
    trials = sample.capacity.trials if sample.capacity else []
    known = sorted((t.rate, y) for t in trials if t.held is not None and (y := value(t)))
    start = 0.0

    def stretch(point: tuple[float, float]) -> float:
        nonlocal start
        if point[0] > start * (1 + _ALIKE):
            start = point[0]
        return start

    groups = [list(group) for _, group in groupby(known, key=stretch)]
    return [(median(x for x, _ in group), median(y for _, y in group)) for group in groups]
