"""Messages done over time, from exec: when the first came, how fast the rest, and when the last."""

from __future__ import annotations

from touchstone.record.sample import Sample
from touchstone.report.plots import canvas
from touchstone.report.plots.lines import TYPICAL, Points, draw_over_time, legend_of, lines_of
from touchstone.report.plots.panel import Panel, slug
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit


def build(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of a drain."""
    lines = lines_of(view, place, "drain_rate", _points)
    if not lines:
        return None
    figure, _ = draw_over_time(lines, Unit.COUNT, ("seconds since exec", "messages done"), steps=True)
    return Panel(
        title="Messages over time",
        svg=canvas.to_svg(
            figure, slug(place, "drain"), f"{view.title(place)}: messages done over time", _kept(view, place)
        ),
        caption=f"{_kept(view, place)} {TYPICAL}",
        legend=legend_of(lines),
        findings=view.findings_at(place, ("drain_rate", "drain_time", "drain_first_from_exec")),
    )


def _points(sample: Sample) -> Points:
    return [(point.t, float(point.done)) for point in sample.drain.progress] if sample.drain else []


def _kept(view: View, place: PhaseAndLoad) -> str:
    """Contenders that lost, doubled or misordered messages, and the others."""
    faults = []
    for contender in view.measured:
        drains = [s.drain for s in view.samples(place, contender.name) if s.drain is not None]
        counts = [("lost", [d.lost for d in drains]), ("doubled", [d.doubled for d in drains])]
        counts.append(("out of order", [d.out_of_order for d in drains]))
        words = [f"{max(numbers):,} {word}" for word, numbers in counts if any(numbers)]
        if words:
            faults.append(f"{contender.name}: at most {', '.join(words)} in a round")
    return f"{'; '.join(faults)}." if faults else "None lost, none twice, order kept within each partition."
