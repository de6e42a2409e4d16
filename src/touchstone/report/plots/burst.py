"""A burst beyond the capacity: goodput at each offered rate, and second by second."""

from __future__ import annotations

from touchstone.record.evidence.capacity import BurstEvidence
from touchstone.record.sample import Sample
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, Points, draw, draw_over_time, legend_of, lines_of, scale_y
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.plots.ticks import linear_ticks, set_ticks
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit


def build_goodput(view: View, place: PhaseAndLoad) -> Panel | None:
    """Goodput against the offered rate, with the line on which every request is answered in time."""
    lines = lines_of(view, place, "goodput_2x", _by_rate)
    if not lines:
        return None
    figure, axes = canvas.new(300)
    draw(axes, lines, Unit.PER_SECOND, Unit.PER_SECOND)
    scale_y(axes, lines, Unit.PER_SECOND, log=False)
    fastest = max(x for line in lines for x, _ in line.points) * 1.03
    axes.set_xlim(0, fastest)
    set_ticks(axes.xaxis, linear_ticks(fastest, Unit.PER_SECOND), Unit.PER_SECOND)
    highest = axes.get_ylim()[1]
    axes.plot([0, highest], [0, highest], color=canvas.MUTED, linewidth=1.2, linestyle=(0, (4, 3)), zorder=2)
    axes.set_ylim(0, highest)
    canvas.label(axes, "offered rate", "goodput")
    title = "Goodput against offered rate in a burst"
    words = "On the dashed line every request gets a right response within the deadline."
    return Panel(
        title=title,
        svg=canvas.to_svg(figure, slug(place, "burst-goodput"), f"{view.title(place)}: {title.lower()}", words),
        caption=f"Right responses per second within the deadline, at each rate of the burst. {words} {TYPICAL}",
        legend=legend_of(lines),
        findings=view.findings_at(place, ("goodput_2x",)),
    )


def build_timeline(view: View, place: PhaseAndLoad) -> Panel | None:
    """Goodput over time, with the burst shaded."""
    lines = lines_of(view, place, "recovery_time", _over_time)
    if not lines:
        return None
    first = next(burst for c in view.measured for s in view.samples(place, c.name) if (burst := _burst(s)))
    calm, *rates, _ = first.steps
    begin = calm.seconds
    end = begin + sum(step.seconds for step in rates)
    figure, axes = draw_over_time(lines, Unit.PER_SECOND, ("seconds", "goodput"), steps=True)
    axes.axvspan(begin, end, color=canvas.BAND, linewidth=0, zorder=0.5)
    title = "Goodput before, in and after a burst"
    factors = ", ".join(f"{step.factor:g}" for step in rates)
    before = f"before and after it, {calm.factor:g} times"
    words = f"The shaded burst offers {factors} times each contender's capacity; {before}."
    return Panel(
        title=title,
        svg=canvas.to_svg(figure, slug(place, "burst-time"), f"{view.title(place)}: {title.lower()}", words),
        caption=f"Right responses per second within the deadline. {words} {TYPICAL}",
        legend=legend_of(lines),
        findings=view.findings_at(place, ("recovery_time",)),
    )


def _burst(sample: Sample) -> BurstEvidence | None:
    found = sample.capacity.burst if sample.capacity else None
    return None if found is None or found.void else found


def _by_rate(sample: Sample) -> Points:
    burst = _burst(sample)
    return [(step.rate, step.goodput) for step in burst.steps[:-1]] if burst else []


def _over_time(sample: Sample) -> Points:
    burst = _burst(sample)
    return [(moment.t, moment.goodput) for moment in burst.timeline] if burst else []
