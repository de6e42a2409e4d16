"""A start under load: requests served in total since exec, where lines cross, and the rate second by second."""

from __future__ import annotations

from itertools import pairwise

from touchstone.record.sample import Sample
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, Points, draw_over_time, legend_of, lines_of, mark_medians
from touchstone.report.plots.marks import mark
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit


def build_totals(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of what was served in total."""
    lines = lines_of(view, place, "peak_served", _totals)
    if not lines:
        return None
    words = ("seconds since exec", "correct responses in total")
    figure, axes = draw_over_time(lines, Unit.COUNT, words, steps=False)
    for crossing in view.crossings:
        if crossing.outcome == "overtakes" and crossing.median_s is not None:
            colour = canvas.line_colour(view.colour(crossing.contender))
            stem = axes.axvline(crossing.median_s, color=colour, linewidth=1.1, linestyle=(0, (2, 3)), zorder=2)
            mark(stem, crossing.contender)
    crossed = any(crossing.outcome == "overtakes" for crossing in view.crossings)
    addition = " Dotted: where one overtakes another, in the colour of the one that does." if crossed else ""
    return Panel(
        title="Served in total since exec",
        svg=canvas.to_svg(
            figure,
            slug(place, "peak-totals"),
            f"{view.title(place)}: correct responses in total since exec",
            addition.strip(),
        ),
        caption=f"The load begins as soon as the first answer is right. {TYPICAL}{addition}",
        legend=legend_of(lines),
        findings=view.findings_at(place, ("peak_served", "peak_served_1s", "peak_served_10s")),
    )


def build_rates(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of the rate in each second."""
    lines = lines_of(view, place, "peak_served", _rates)
    if not lines:
        return None
    words = ("seconds since exec", "correct responses per second")
    figure, axes = draw_over_time(lines, Unit.PER_SECOND, words, steps=True)
    reached = mark_medians(axes, view, place, "peak_time", unit=Unit.SECONDS, says="peak after")
    addition = f" Peak reached (triangle): {', '.join(reached)}." if reached else ""
    return Panel(
        title="Rate since exec, second by second",
        svg=canvas.to_svg(
            figure,
            slug(place, "peak-rates"),
            f"{view.title(place)}: correct responses per second since exec",
            addition.strip(),
        ),
        caption=f"Only correct responses count. {TYPICAL}{addition}",
        legend=legend_of(lines),
        findings=view.findings_at(place, ("peak_time", "peak_rate")),
    )


def _totals(sample: Sample) -> Points:
    if sample.peak is None:
        return []
    return [(0.0, 0.0), *((float(second), float(n)) for second, n in enumerate(sample.peak.served, start=1))]


def _rates(sample: Sample) -> Points:
    return [(then, now_n - n) for (_, n), (then, now_n) in pairwise(_totals(sample))]
