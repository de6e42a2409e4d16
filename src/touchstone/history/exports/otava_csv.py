"""Apache Otava's CSV: a column of times, attributes, and a column for each metric; one row a commit.

Source: Otava's documentation, "Importing results from CSV". Its configuration names the columns; the first lines of
docs/history.md show one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from touchstone.history.entry import Entry
from touchstone.history.series import series_of

_ATTRIBUTES = ("time", "commit", "run")


def document(entries: Sequence[Entry]) -> str:
    """What the page draws: the ratio to the reference where every commit has one. A value that is missing is empty."""
    columns = {_name(series.first): series for series in series_of(entries)}
    values = {
        (name, entry.run): value
        for name, series in columns.items()
        for entry, value in zip(series.entries, series.values, strict=True)
    }
    rows = {entry.run: entry for entry in entries}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_ATTRIBUTES, *columns])
    for run, entry in rows.items():
        time = entry.committed_at.strftime("%Y-%m-%d %H:%M:%S %z")
        writer.writerow([time, entry.commit, run, *(values.get((name, run), "") for name in columns)])
    return text.getvalue()


def _name(entry: Entry) -> str:
    return "_".join(
        part.replace("/", "_") for part in (entry.scenario, entry.contender, entry.load, entry.figure) if part
    )
