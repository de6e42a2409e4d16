"""Whatever stands in a history: it is read and shown, or refused in a sentence. Never a traceback."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from tests.history.entries import history
from touchstone.cli.history_command import print_series
from touchstone.failure import TouchstoneError
from touchstone.history import page, store
from touchstone.history.described import described_series
from touchstone.history.exports import EXPORTS, LEFT_OUT

LINES = [json.loads(entry.model_dump_json(by_alias=True)) for entry in history(commits=4, kernel_from=2)]
ODD: list[Any] = [
    None, 0, -1, 1.5, 1e308, -0.0, float("inf"), float("nan"), 2**70, "", "x", "[/]", "[red]", "{x}", "\x1b[31m",
    "\u2028", "\x85", "a\nb", "\ud800", "throughput", "rss_peak", "2026-03-01T12:00:00", "2026-03-01T12:00:00+23:00",
    "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", [], {}, True, [1], {"a": 1}, {"CPU": "x"},
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@st.composite
def histories(draw: st.DrawFn) -> bytes:
    """Lines of which some have another value, lack one, come twice, or are torn."""
    lines = [dict(line) for line in draw(st.lists(st.sampled_from(LINES), max_size=6))]
    for line in lines:
        for _ in range(draw(st.integers(0, 3))):
            name = draw(st.sampled_from(sorted(LINES[0])))
            if draw(st.booleans()):
                line[name] = draw(st.sampled_from(ODD) | st.text(max_size=4) | st.floats())
            else:
                line.pop(name, None)
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    if draw(st.booleans()):
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(st.binary(max_size=4)) + data[at + draw(st.integers(0, 9)) :]
    return data


def look_at(folder: Path, data: bytes) -> None:
    path = folder / "history.jsonl"
    path.write_bytes(data)
    try:
        entries = store.read(path)
        for name, export in EXPORTS.items():
            try:
                export(entries)
                LEFT_OUT.get(name, list)(entries)
            except TouchstoneError as error:
                assert str(error)
        seen = described_series(entries, 0.01, lambda after, until: [], find_changes=False)
        print_series(Console(file=io.StringIO()), seen)
        page.document(seen, path.name)
        for one in seen:
            one.text.model_dump_json()
    except TouchstoneError as error:
        assert str(error)


@settings(max_examples=100)
@given(data=histories())
def test_no_history_makes_a_traceback(folder: Path, data: bytes) -> None:
    look_at(folder, data)


@pytest.mark.slow
@settings(max_examples=5000)
@given(data=histories())
def test_no_history_of_five_thousand_makes_a_traceback(folder: Path, data: bytes) -> None:
    look_at(folder, data)


def test_a_subject_with_a_line_separator_stays_in_its_line(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    entry = history()[0].model_copy(update={"subject": "a\u2028b\x85c\x0bd"})
    store.append(path, [entry])
    assert store.read(path) == [entry]
