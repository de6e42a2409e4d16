"""Intervals of ratios as text, for places that show no pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from touchstone.judge.judgement import Comparison
from touchstone.report.changes import row

_MOST = 30
_HEAD = "head / base"
_WIDTH = 41
_SPAN = 1.02
"""The axis reaches at least this ratio to both sides."""


def interval_plot(changes: Sequence[Comparison]) -> Iterator[str]:
    """The interval of each ratio on one logarithmic axis, as lines of Markdown."""
    shown = [(change, known) for change in changes if (known := _known(change))][:_MOST]
    if not shown:
        return
    reach = max(_SPAN, *(max(ratio, 1 / ratio) for _, known in shown for ratio in known))
    names = [f"{change.load or ''} {row(change).figure}".strip() for change, _ in shown]
    wide = max(map(len, [_HEAD, *names]))

    def at(ratio: float) -> int:
        return round((math.log(ratio) / math.log(reach) + 1) / 2 * (_WIDTH - 1))

    yield "```text"
    yield f"{_HEAD:{wide}}  {f'{1 / reach:.2f}':<{_WIDTH // 2 - 1}}1.00{f'{reach:.2f}':>{_WIDTH // 2 - 2}}"
    for name, (change, known) in zip(names, shown, strict=True):
        cells = [" "] * _WIDTH
        low, ratio, high = map(at, known)
        cells[low : high + 1] = "├" + "─" * (high - low - 1) + "┤" if high > low else "│"
        cells[at(1.0)] = "┊" if cells[at(1.0)] == " " else "┼"
        cells[ratio] = "●"
        yield f"{name:{wide}}  {''.join(cells)}  {change.outcome}"
    yield from ["```", ""]


def _known(change: Comparison) -> tuple[float, float, float] | None:
    """The ratio between the ends of its interval; None if one is not on the axis."""
    low, ratio, high = (
        x if x is not None and 0 < x < math.inf else None for x in (change.low, change.ratio, change.high)
    )
    return None if low is None or ratio is None or high is None else (low, ratio, high)
