"""Bencher Metric Format: `{benchmark: {measure: {value, lower_value, upper_value}}}`.

Source: bencher.dev, reference, "Bencher Metric Format (BMF)".
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from touchstone.history.entry import HistoryEntry
from touchstone.history.exports.newest import newest


def document(entries: Sequence[HistoryEntry]) -> str:
    """A benchmark is a contender under a load, a measure a figure in its base unit. Its ratio is one of its own."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for entry in newest(entries):
        measures = found.setdefault(f"{entry.scenario}: {entry.place}", {})
        measures[entry.figure] = _metric(entry.value, entry.low, entry.high)
        if entry.ratio is not None:
            measures[f"{entry.figure}_ratio"] = _metric(entry.ratio, entry.ratio_low, entry.ratio_high)
    return json.dumps(found, indent=1) + "\n"


def _metric(value: float, low: float | None, high: float | None) -> dict[str, float]:
    bounds = {"lower_value": low, "upper_value": high}
    return {"value": value} | {name: bound for name, bound in bounds.items() if bound is not None}
