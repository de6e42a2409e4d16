"""github-action-benchmark's custom JSON: `[{name, unit, value, range, extra}]`, one direction a file.

Source: github.com/benchmark-action/github-action-benchmark, README, "customBiggerIsBetter and customSmallerIsBetter".
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from touchstone.history.entry import HistoryEntry
from touchstone.history.exports.newest import newest
from touchstone.vocabulary.figure import Better


def smaller_is_better(entries: Sequence[HistoryEntry]) -> str:
    """The figures of which less is better."""
    return _document(entries, Better.LOWER)


def bigger_is_better(entries: Sequence[HistoryEntry]) -> str:
    """The figures of which more is better."""
    return _document(entries, Better.HIGHER)


def _document(entries: Sequence[HistoryEntry], better: Better) -> str:
    made = [_line(entry) for entry in newest(entries) if entry.about.better is better]
    return json.dumps(made, indent=1) + "\n"


def _line(entry: HistoryEntry) -> dict[str, str | float]:
    """A ratio where there is one: that action compares with the value of another day, and so of another machine."""
    name = f"{entry.scenario}: {entry.place}: {entry.about.title}"
    extra = f"commit {entry.commit}\nrun {entry.run}"
    if entry.ratio is not None:
        unit, value, bounds = f"x {entry.reference}", entry.ratio, (entry.ratio_low, entry.ratio_high)
        extra += f"\n{entry.value!r} {entry.about.unit}"
    else:
        unit, value, bounds = str(entry.about.unit), entry.value, (entry.low, entry.high)
    line: dict[str, str | float] = {"name": name, "unit": unit, "value": value, "extra": extra}
    low, high = bounds
    if low is not None and high is not None:
        line["range"] = f"± {(high - low) / 2:.4g}"
    return line
