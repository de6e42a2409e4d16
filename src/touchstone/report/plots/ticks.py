"""Ticks at values that are round in the unit they are read in: 64 MiB, not 95.4 MiB."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from touchstone.report.format import scale_for
from touchstone.report.plots.canvas import text_width
from touchstone.vocabulary.figure import Unit

if TYPE_CHECKING:
    from matplotlib.axis import Axis

_MOST = 6
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_AIR = 6.0
"""Pixels between the texts of two ticks, at the least."""


def linear_ticks(top: float, unit: Unit) -> list[float]:
    """Four to six ticks from 0 to `top`."""
    factor = scale_for([top], unit).factor
    rough = top / factor / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(s * power for s in _STEPS if s * power >= rough)
    return [i * step * factor for i in range(math.floor(top / factor / step) + 1)]


def log_ticks(low: float, high: float, unit: Unit) -> list[float]:
    """At most seven ticks: powers of two for bytes, else 1, 2 and 5, or fewer a decade."""
    if unit is Unit.BYTES:
        return _powers_of_two(low, high)
    ticks: list[float] = []
    for mantissas in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [m * 10.0**d for d in decades for m in mantissas if low <= m * 10.0**d <= high]
        if len(ticks) <= _MOST:
            return ticks
    return ticks[:: -(-len(ticks) // _MOST)]


def _powers_of_two(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    stride = max(1, -(-(last - first + 1) // _MOST))
    return [2.0**exponent for exponent in range(first, last + 1, stride)]


def spaced(
    ticks: list[float], keep: float, position: Callable[[float], float], text: Callable[[float], str]
) -> list[float]:
    """Every second of the ticks, `keep` always among them, until no text touches the next. Positions are in pixels."""

    def gap(left: float, right: float) -> float:
        return position(right) - position(left) - (text_width(text(left)) + text_width(text(right))) / 2

    while len(ticks) > 1 and min(map(gap, ticks, ticks[1:])) < _AIR:
        kept = ticks.index(keep)
        ticks = [t for i, t in enumerate(ticks) if (i - kept) % 2 == 0]
    return ticks


def set_ticks(axis: Axis, ticks: Sequence[float], unit: Unit) -> None:
    """Put these ticks, and no others, on an axis."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator  # noqa: PLC0415

    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_major_formatter(FixedFormatter([tick(value, unit) for value in ticks]))
    axis.set_minor_locator(NullLocator())


def tick(value: float, unit: Unit) -> str:
    """A tick's text: a round value in its own unit."""
    if value == 0:
        return "0"
    scale = scale_for([value * 1.0000001], unit)
    shown = value / scale.factor
    text = f"{shown:,.0f}" if shown >= 100 else f"{shown:.3g}"
    return f"{text} {scale.suffix}".rstrip()
