"""The ratio of throughputs against laps: how it came to be decided, and the noise that was cancelled on the way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from touchstone.judge.comparison.convergence import ConvergencePoint, convergence
from touchstone.judge.judgement import Verdict
from touchstone.judge.statistics.intervals import simultaneous
from touchstone.record.sample import Sample
from touchstone.report.format import percent
from touchstone.report.plots import canvas
from touchstone.report.plots.marks import mark, mark_line
from touchstone.report.plots.panel import LegendEntry, Panel, slug
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import Unit

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_FIGURE = "throughput"
_MOST_WITH_DOTS = 5
"""More contenders' dots would hide each other."""


def build(view: View, place: PhaseAndLoad) -> Panel | None:
    """The panel of a load in slices; nothing for one in whole windows."""
    if view.baseline is None:
        return None
    against = _by_round(view, place, view.baseline)
    names = [c.name for c in view.measured if c.name != view.baseline]
    confidence = simultaneous(view.judgement.confidence, max(1, len(names)))
    paths = {
        name: steps
        for name in names
        if (steps := convergence(_by_round(view, place, name), against, _FIGURE, confidence)) and steps[-1].known
    }
    if not paths:
        return None
    figure, axes = canvas.new(300)
    low, high = _limits(list(paths.values()))
    dots = len(paths) <= _MOST_WITH_DOTS
    for name, steps in paths.items():
        points = _thinned(steps, view.budget.points)
        mark(_draw(axes, points, canvas.line_colour(view.colour(name)), dots, (low, high)), name)
        path = [(float(count), step.known.point) for count, step in points if step.known is not None]
        line = axes.plot(*zip(*path, strict=True), color=canvas.line_colour(view.colour(name)), linewidth=2.0, zorder=4)
        mark_line(line, name, path, Unit.COUNT, Unit.COUNT)
    axes.axhline(1.0, color=canvas.INK, linewidth=1.0, zorder=2)
    for count, step in enumerate(next(iter(paths.values()))):
        if count and step.lap == 0:
            axes.axvline(count + 0.5, color=canvas.GRID, linewidth=0.8, zorder=1)
    axes.set_xlim(0.5, max(len(steps) for steps in paths.values()) + 0.5)
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    _ratio_ticks(axes, low, high)
    canvas.label(axes, "laps over all rounds", f"throughput over {view.baseline}'s")
    return Panel(
        title="How the ratio was decided",
        svg=canvas.to_svg(
            figure,
            slug(place, "convergence"),
            f"{view.title(place)}: ratio of throughputs against laps",
            "; ".join(_in_words(name, steps) for name, steps in paths.items()),
        ),
        caption=(
            f"{'Dots: the ratio in each lap. ' if dots else ''}Line and band: the ratio over all laps until then, with "
            f"its {percent(view.judgement.confidence)} interval; of the laps alone in the first round, of rounds "
            "from then on. Vertical lines: fresh processes."
        ),
        legend=[LegendEntry(name, view.colour(name)) for name in paths],
        findings=[],
        wide=True,
    )


def _by_round(view: View, place: PhaseAndLoad, contender: str) -> dict[int, Sample]:
    samples = [s for s in view.samples(place, contender) if view.verdict(s) is not Verdict.INVALID]
    return {s.round: s for s in samples if s.round is not None}


def _thinned(steps: list[ConvergencePoint], budget: int) -> list[tuple[int, ConvergencePoint]]:
    """At most about `budget` steps with their place from 1, the last among them."""
    stride = max(1, -(-len(steps) // budget))
    return [(count, step) for count, step in enumerate(steps, 1) if (len(steps) - count) % stride == 0]


def _limits(paths: list[list[ConvergencePoint]]) -> tuple[float, float]:
    """Where the axis ends: around what is known at the end, and most of the laps."""
    seen = [1.0]
    for steps in paths:
        laps = sorted(step.ratio for step in steps)
        seen += [laps[len(laps) // 20], laps[-1 - len(laps) // 20]]
        if steps[-1].known is not None:
            seen += [max(steps[-1].known.low, 1e-3), min(steps[-1].known.high, 1e3)]
    room = max(1.02, (max(seen) / min(seen)) ** 0.15)
    return min(seen) / room, max(seen) * room


def _draw(
    axes: Axes, steps: list[tuple[int, ConvergencePoint]], colour: str, dots: bool, limits: tuple[float, float]
) -> list[Artist]:
    """The laps, and the band of what is known."""
    low, high = limits
    drawn: list[Artist] = []
    if dots:
        # A lap beyond the axis is drawn at its edge, so that none is hidden.
        inside = [min(max(step.ratio, low * 1.002), high / 1.002) for _, step in steps]
        drawn.append(
            axes.scatter([count for count, _ in steps], inside, s=9, color=colour, alpha=0.5, linewidths=0, zorder=3)
        )
    known = [(count, step.known) for count, step in steps if step.known is not None]
    lows, highs = [interval.low for _, interval in known], [interval.high for _, interval in known]
    band = axes.fill_between([n for n, _ in known], lows, highs, color=colour, alpha=0.16, linewidth=0, zorder=2)
    return [*drawn, band]


def _ratio_ticks(axes: Axes, low: float, high: float) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator  # noqa: PLC0415

    ticks = _round_ratios(low, high)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
    axes.yaxis.set_minor_locator(NullLocator())


def _round_ratios(low: float, high: float) -> list[float]:
    """Four to seven round numbers."""
    if high / low > 4:
        steps = [m * 10.0**d for d in range(-4, 5) for m in (1.0, 2.0, 5.0)]
        return [step for step in steps if low <= step <= high]
    rough = (high - low) / 5
    power = 10 ** math.floor(math.log10(rough))
    width = next(s * power for s in (1.0, 2.0, 5.0, 10.0) if s * power >= rough)
    first = math.ceil(low / width)
    return [round(i * width, 10) for i in range(first, math.floor(high / width) + 1)]


def _in_words(name: str, steps: list[ConvergencePoint]) -> str:
    known = steps[-1].known
    assert known is not None  # `build` draws no path without
    return f"{name}: {known.point:.3g} ({known.low:.3g} to {known.high:.3g}) after {len(steps)} laps"
