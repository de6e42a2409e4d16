"""The newest entry of each series: what tools that keep a history of their own are given."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.history.entry import HistoryEntry
from touchstone.history.series import series_of


def newest(entries: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """One entry a figure, in the order of the store."""
    return [series.entries[-1] for series in series_of(entries)]
