"""What the plots over time share: the phases behind the lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from touchstone.report.plots import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES = {"warmup": "warm-up", "load": "load", "idle": "idle", "drain": "draining", "ramp": "ramp"}


def shade_phases(axes: Axes, points: Iterable[tuple[float, str]]) -> None:
    """Mark each phase by its name at the top, and shade all but the load. `points` are times with their phase."""
    for phase, start, end in _stretches(list(points)):
        if phase not in ("load", ""):
            axes.axvspan(start, end, color=canvas.BAND, linewidth=0, zorder=0.5)
        low, high = axes.get_xlim()
        name = _NAMES.get(phase, phase)
        if name and (end - start) / (high - low) * axes.get_position().width * canvas.WIDTH > 8 * len(name):
            axes.text(
                (start + end) / 2,
                0.985,
                name,
                transform=axes.get_xaxis_transform(),
                ha="center",
                va="top",
                fontsize=canvas.TEXT - 1.5,
                color=canvas.MUTED,
            )


def _stretches(points: list[tuple[float, str]]) -> list[tuple[str, float, float]]:
    stretches: list[tuple[str, float, float]] = []
    before = 0.0
    for t, phase in points:
        if stretches and stretches[-1][0] == phase:
            stretches[-1] = (phase, stretches[-1][1], t)
        else:
            stretches.append((phase, before, t))
        before = t
    return stretches


def seconds_axis(axes: Axes, end: float) -> None:
    """Seconds since the first intended send."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    axes.set_xlim(0, end)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
