"""The file of a history."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.history.entries import history
from touchstone.failure import UsageError
from touchstone.history import store


def test_what_is_appended_is_read_in_the_order_of_commits(tmp_path: Path) -> None:
    path, entries = tmp_path / "h.jsonl", history()
    store.append(path, entries[6:])
    store.append(path, entries[:6])
    assert store.read(path) == entries
    assert len(path.read_text().splitlines()) == len(entries), "a line a figure, so that git can merge it"


def test_a_run_is_recorded_once(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    store.append(path, history()[:1])
    with pytest.raises(UsageError, match="recorded already"):
        store.append(path, history()[:1])


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", '{"schema": "touchstone.history/2"}', "{}", "[]"])
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "h.jsonl"
    store.append(path, history()[:1])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(UsageError, match=r"h.jsonl, line 2"):
        store.read(path)


def test_no_history_says_how_to_begin_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="history record"):
        store.read(tmp_path / "absent.jsonl")
