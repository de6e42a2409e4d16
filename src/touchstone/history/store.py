"""The store: JSON lines, appended to. It lives in git or on disk; merged with `merge=union`, it stays whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from touchstone.failure import UsageError
from touchstone.history.entry import SCHEMA, HistoryEntry

DEFAULT = "touchstone-history.jsonl"


def read(path: Path) -> list[HistoryEntry]:
    """Every line, in the order of the commits. Raises UsageError for a file that is not there or not a history."""
    try:
        # A subject may hold signs that end a line for Python, and for no other program.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"is not a history: it is not UTF-8 ({error.reason} at byte {error.start})",
            where=str(path),
            fix="name another file: --store FILE",
        ) from error
    except OSError as error:
        raise UsageError(
            f"there is no history: {error.strerror}",
            where=str(path),
            fix="`touchstone history record` begins one, or name another file: --store FILE",
        ) from error
    found = [_entry(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    return sorted(found, key=lambda entry: (entry.committed_at, entry.measured_at))


def append(path: Path, entries: Sequence[HistoryEntry]) -> None:
    """Add a run's lines. Raises UsageError if the run is there already."""
    known = {entry.run for entry in read(path)} if path.exists() else set()
    if again := sorted({entry.run for entry in entries} & known):
        raise UsageError(
            f"the run {again[0]} is recorded already", where=str(path), fix="measure again, or record another run"
        )
    text = "".join(entry.model_dump_json(by_alias=True, exclude_none=True) + "\n" for entry in entries)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text)


def _entry(path: Path, number: int, line: str) -> HistoryEntry:
    try:
        return HistoryEntry.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the line"
        raise UsageError(
            f"is not a line of a {SCHEMA}: {place}: {first['msg']}",
            where=f"{path}, line {number}",
            fix="remove the line, or resolve the merge that left it; `*.jsonl merge=union` in .gitattributes avoids "
            "such merges",
        ) from error
