"""Intervals of ratios as text, for places that show no pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from touchstone.judge.judgement import Comparison
from touchstone.report.changes import row

_MOST = 30
_WIDTH = 41
_SPAN = 1.02
"""The axis reaches at least this ratio to both sides."""


def interval_plot(changes: Sequence[Comparison]) -> Iterator[str]:
    """The interval of each ratio on one logarithmic axis, as lines of Markdown."""
    shown = [change for change in changes if _is_known(change)][:_MOST]
    if not shown:
        return
    bounds = [bound for change in shown for bound in (change.low, change.high, change.ratio) if bound]
    reach = max(_SPAN, *bounds, *(1 / bound for bound in bounds))
    names = [f"{change.load or ''} {row(change).figure}".strip() for change in shown]
    wide = max(map(len, names))

    def at(ratio: float) -> int:
        return round((math.log(ratio) / math.log(reach) + 1) / 2 * (_WIDTH - 1))

    yield "```text"
    yield f"{'head / base':{wide}}  {f'{1 / reach:.2f}':<{_WIDTH // 2 - 1}}1.00{f'{reach:.2f}':>{_WIDTH // 2 - 2}}"
    for name, change in zip(names, shown, strict=True):
        cells = [" "] * _WIDTH
        low, high = at(change.low or 1 / reach), at(change.high or reach)
        cells[low : high + 1] = "├" + "─" * (high - low - 1) + "┤" if high > low else "│"
        cells[at(1.0)] = "┊" if cells[at(1.0)] == " " else "┼"
        cells[at(change.ratio or 1.0)] = "●"
        yield f"{name:{wide}}  {''.join(cells)}  {change.outcome}"
    yield from ["```", ""]


def _is_known(change: Comparison) -> bool:
    return all(bound is not None and 0 < bound < math.inf for bound in (change.low, change.ratio, change.high))
