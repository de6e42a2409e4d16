"""What a history says, in words: of each series its state, its changes with the commits between, its breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from touchstone.history.changes import HistoryChange, changes_of
from touchstone.history.entry import HistoryEntry
from touchstone.history.series import FigureHistory, HistoryBreak, series_of
from touchstone.judge.comparison.pair import Revision
from touchstone.record.base import Record

Between = Callable[[str, str], Sequence[Revision]]
"""The commits after one and up to another, the newest first; empty where git does not know them."""


class SeriesText(Record):
    """A series in words."""

    scenario: str
    contender: str
    load: str | None
    figure: str
    shown: str
    """What is compared over commits: a ratio, or the value."""
    commits: int
    newest: HistoryEntry
    changes: list[HistoryChange]
    breaks: list[HistoryBreak]


@dataclass(frozen=True)
class DescribedSeries:
    """A series, and the same in words."""

    series: FigureHistory
    text: SeriesText


def described_series(
    entries: Sequence[HistoryEntry], magnitude: float, between: Between, *, find_changes: bool = True
) -> list[DescribedSeries]:
    """Every series of a store, searched for change points. Raises OtavaMissingError."""
    found = []
    for series in series_of(entries):
        changes = changes_of(series, magnitude) if find_changes else []
        for change in changes:
            commits = list(between(change.after, change.until))
            change.commits = commits or [_revision(series.entries[change.at])]
        found.append(DescribedSeries(series, _series_text(series, changes)))
    return found


def _series_text(series: FigureHistory, changes: list[HistoryChange]) -> SeriesText:
    first = series.first
    return SeriesText(
        scenario=first.scenario,
        contender=first.contender,
        load=first.load,
        figure=first.figure,
        shown=series.shown,
        commits=len(series.entries),
        newest=series.entries[-1],
        changes=changes,
        breaks=list(series.breaks),
    )


def _revision(entry: HistoryEntry) -> Revision:
    return Revision(name=entry.commit[:10], commit=entry.commit, subject=entry.subject)
