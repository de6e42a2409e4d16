"""Exports figures or a whole history in the formats of other tools. Each format has one file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from touchstone.history.entry import HistoryEntry
from touchstone.history.exports import bencher, github_action, openmetrics, otava_csv

EXPORTS: dict[str, Callable[[Sequence[HistoryEntry]], str]] = {
    "bencher": bencher.document,
    "github-smaller-is-better": github_action.smaller_is_better,
    "github-bigger-is-better": github_action.bigger_is_better,
    "openmetrics": openmetrics.document,
    "otava-csv": otava_csv.document,
}
"""By the name that the command takes."""
LEFT_OUT: dict[str, Callable[[Sequence[HistoryEntry]], list[str]]] = {"otava-csv": otava_csv.left_out}
"""What a format cannot hold, in words, by the name of the format."""
