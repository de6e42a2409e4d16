"""Apache Otava's CSV: a column of times, attributes, and a column for each metric; one row a run.

Source: Otava's documentation, "Importing results from CSV". Its configuration names the columns; the first lines of
docs/history.md show one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.failure import TouchstoneError
from touchstone.history.entry import HistoryEntry
from touchstone.history.series import series_of

_ATTRIBUTES = ("time", "commit", "run")


def document(entries: Sequence[HistoryEntry]) -> str:
    """Rows of the runs that have every figure, as the page draws them: Otava reads no file with an empty cell.

    Otava 0.8.0 prints an error about the cell, analyses nothing, and ends with exit code 0.

    Raises:
        TouchstoneError: no run has every figure.

    """
    runs = _runs(entries)
    rows = [run for run in runs if not run.lacks]
    if not rows:
        raise TouchstoneError(
            "no run has every figure of this history, and Otava cannot read a row with an empty cell",
            fix="keep each scenario in a file of its own: `touchstone history record --store FILE`",
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_ATTRIBUTES, *rows[0].values])
    for row in rows:
        time = row.entry.committed_at.strftime("%Y-%m-%d %H:%M:%S %z")
        writer.writerow([time, row.entry.commit, row.entry.run, *row.values.values()])
    return text.getvalue()


def left_out(entries: Sequence[HistoryEntry]) -> list[str]:
    """The runs that `document` leaves out, each with the figures that it lacks, in words."""
    return [f"left out: run {run.entry.run} has no {', '.join(run.lacks)}" for run in _runs(entries) if run.lacks]


@dataclass(frozen=True)
class _OtavaRow:
    entry: HistoryEntry
    values: dict[str, float | None]
    """By column."""

    @property
    def lacks(self) -> list[str]:
        return [name for name, value in self.values.items() if value is None]


def _runs(entries: Sequence[HistoryEntry]) -> list[_OtavaRow]:
    columns = {_name(series.first): series for series in series_of(entries)}
    values = {
        (name, entry.run): value
        for name, series in columns.items()
        for entry, value in zip(series.entries, series.values, strict=True)
    }
    runs = {entry.run: entry for entry in entries}
    return [_OtavaRow(entry, {name: values.get((name, run)) for name in columns}) for run, entry in runs.items()]


def _name(entry: HistoryEntry) -> str:
    return "_".join(
        part.replace("/", "_") for part in (entry.scenario, entry.contender, entry.load, entry.figure) if part
    )
