"""Resident memory of the server's process tree over time, with the phases marked."""

from __future__ import annotations

from touchstone.record.sample import Sample
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, Points, draw, legend_of, lines_of, scale_y, spread
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.plots.timeline import seconds_axis, shade_phases
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit

_FIGURES = ("rss_peak", "pss_peak", "anon_peak", "cgroup_peak", "rss_after_load", "rss_after_idle")
_LINEAR_UP_TO = 8.0
"""Above this ratio of the largest to the smallest value a linear axis would flatten the small ones."""


def build(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of a load's memory."""
    lines = lines_of(view, place, "rss_peak", _points)
    if not lines:
        return None
    figure, axes = canvas.new(300)
    seconds_axis(axes, max(x for line in lines for x, _ in line.points))
    draw(axes, lines, Unit.SECONDS, Unit.BYTES)
    how = scale_y(axes, lines, Unit.BYTES, log=spread(lines) > _LINEAR_UP_TO)
    shade_phases(axes, _phases(view, place))
    canvas.label(axes, "seconds since the first request", ", ".join(["resident memory", *([how] if how else [])]))
    return Panel(
        title="Memory over time",
        svg=canvas.to_svg(
            figure,
            slug(place, "memory"),
            f"{view.title(place)}: resident memory over time",
            "Resident memory of the whole process tree on the clock of the latencies.",
        ),
        caption=f"RSS of the server's whole process tree. {TYPICAL}",
        legend=legend_of(lines),
        findings=view.findings_at(place, _FIGURES),
    )


def _points(sample: Sample) -> Points:
    if sample.result is None or sample.result.watch is None:
        return []
    return [(p.t, float(p.rss)) for p in sample.result.watch.series if p.rss]


def _phases(view: View, place: PhaseAndLoad) -> list[tuple[float, str]]:
    samples = [s.result.watch.series for s in view.samples(place) if s.result and s.result.watch]
    longest = max(samples, key=lambda series: series[-1].t if series else 0.0)
    return [(p.t, p.phase) for p in longest]
