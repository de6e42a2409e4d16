"""Latency by percentile on HdrHistogram's axis: each further nine takes the same room."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from touchstone.record.sample import Sample
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, Points, draw, legend_of, lines_of, scale_y
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FIGURES = ("latency_p50", "latency_p90", "latency_p95", "latency_p99", "latency_p99_9", "latency_max")
_TICKS = {0.5: "50 %", 0.9: "90 %", 0.99: "99 %", 0.999: "99.9 %", 0.9999: "99.99 %", 0.99999: "99.999 %"}


def build(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of a load's latency distributions; a stepped load has its own panel instead."""
    if place.phase != "load":
        return None
    lines = lines_of(view, place, "latency_p99", _points)
    if not lines:
        return None
    figure, axes = canvas.new(300)
    draw(axes, lines, _per_cent, Unit.SECONDS)
    scale_y(axes, lines, Unit.SECONDS, log=True)
    _percentile_axis(axes, max(x for line in lines for x, _ in line.points))
    canvas.label(axes, "share of requests answered within", "latency, log scale")
    return Panel(
        title="Latency by percentile",
        svg=canvas.to_svg(
            figure,
            slug(place, "percentiles"),
            f"{view.title(place)}: latency by percentile",
            "One line a round of each contender; the figures are in the table of all figures.",
        ),
        caption=f"From the intended send time. {TYPICAL}",
        legend=legend_of(lines),
        findings=view.findings_at(place, _FIGURES),
    )


def _points(sample: Sample) -> Points:
    if sample.result is None or sample.result.steps:
        return []
    count = sample.result.latency.count
    last = 1 - 1 / max(count, 10)
    curve = [(min(share if share <= 1 else share / 100, last), value) for share, value in sample.result.latency.curve]
    return [(_nines(share), value) for share, value in curve if value > 0]


def _nines(share: float) -> float:
    return -math.log10(1 - share)


def _per_cent(nines: float) -> float:
    return 100 * (1 - 10**-nines)


def _percentile_axis(axes: Axes, top: float) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator  # noqa: PLC0415

    ticks = {_nines(share): text for share, text in _TICKS.items() if _nines(share) <= max(top, 1) + 0.05}
    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.xaxis.set_major_formatter(FixedFormatter(list(ticks.values())))
    axes.set_xlim(0, max(top, 1))
