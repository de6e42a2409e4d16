"""Since which commit a figure is another one; and what is never a change of the service."""

from __future__ import annotations

import io

from rich.console import Console

from tests.history.entries import history
from touchstone.cli.history_command import print_series
from touchstone.history import page
from touchstone.history.changes import changes_of
from touchstone.history.described import described_series
from touchstone.history.series import ShownFigure, series_of


def test_a_dearer_commit_is_marked_once_and_at_its_place() -> None:
    (series,) = series_of(history(dearer_from=7))
    assert series.shown is ShownFigure.RATIO
    (change,) = changes_of(series)
    assert change.at == 7
    assert change.compared.worse
    assert 1.04 < (change.compared.ratio or 0) < 1.06


def test_a_cheaper_commit_is_a_change_and_not_worse() -> None:
    (series,) = series_of(history(dearer_from=6, by=-0.08))
    (change,) = changes_of(series)
    assert (change.at, change.compared.worse) == (6, False)


def test_a_figure_that_was_0_has_changed_from_0() -> None:
    entries = [
        entry.model_copy(
            update={
                "figure": "error_share",
                "ratio": None,
                "to_tare": None,
                "value": 0.0 if number < 6 else 0.1 + number / 1000,
            }
        )
        for number, entry in enumerate(history())
    ]
    (seen,) = described_series(entries, 0.01, lambda after, until: [])
    told = io.StringIO()
    print_series(Console(file=told, width=160), [seen])
    assert "Errors of sound/plain, ping: worse from 0 (up)" in told.getvalue()
    assert "worse from 0" in page.document([seen], "history")
    assert '"share":null' in seen.text.model_dump_json()


def test_noise_alone_is_no_change() -> None:
    (series,) = series_of(history(commits=30))
    assert not changes_of(series)


def test_another_kernel_is_a_break_and_never_a_change() -> None:
    entries = [entry.model_copy(update={"ratio": None, "to_tare": None}) for entry in history(kernel_from=6)]
    (series,) = series_of(entries)
    assert series.shown is ShownFigure.VALUE
    assert not changes_of(series)
    (one,) = series.breaks
    assert (one.at, one.differences) == (6, ("kernel: 6.1.0 to 6.6.2",))
    without = [entry.model_copy(update={"machine": {}}) for entry in entries]
    (plain,) = series_of(without)
    assert [change.at for change in changes_of(plain)] == [6], "without the fingerprint the kernel would be blamed"


def test_a_dearer_commit_is_found_behind_a_break() -> None:
    (series,) = series_of(history(dearer_from=12, kernel_from=5, commits=20))
    assert [change.at for change in changes_of(series)] == [12]
    assert [one.at for one in series.breaks] == [5]


def test_another_reference_and_another_tool_are_breaks() -> None:
    entries = history()
    entries[4].reference = "sound/plain at 1111111111"
    entries[8:] = [e.model_copy(update={"machine": e.machine | {"tool python3": "3.13.0"}}) for e in entries[8:]]
    (series,) = series_of(entries)
    assert [(one.at, one.differences[0].split(":")[0]) for one in series.breaks] == [
        (4, "reference"),
        (5, "reference"),
        (8, "tool python3"),
    ]


def test_too_few_commits_say_nothing() -> None:
    (series,) = series_of(history(dearer_from=1, commits=3))
    assert not changes_of(series)
