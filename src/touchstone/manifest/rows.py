"""Rows of a CSV or JSON lines file, whose values requests take in turn by `{row.NAME}`."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class RowFile:
    """The names of the columns, and the first row; the engine reads the others."""

    columns: tuple[str, ...]
    first: dict[str, str]


@lru_cache(maxsize=64)
def read_rows(path: Path) -> RowFile:
    """Read a file: `.csv` with a line of names, or `.jsonl` with an object a line; a byte order mark is not part of it.

    Raises ValueError that names the file and the line.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.suffix == ".csv":
                found = _csv(list(csv.reader(file)))
            elif path.suffix in {".jsonl", ".ndjson"}:
                found = _json_lines(file.read())
            else:
                raise ValueError("the name must end with .csv, .jsonl or .ndjson")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"rows {path}: this is not UTF-8: {error.reason} at byte {error.start}; save it as UTF-8"
        ) from error
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        raise ValueError(f"rows {path}: {error}") from error
    if not found:
        raise ValueError(f"rows {path}: there is no row")
    return RowFile(tuple(found), found)


def _csv(lines: list[list[str]]) -> dict[str, str]:
    names, *rows = [line for line in lines if line] or [[]]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise ValueError(f"row {number} has {len(row)} values, and the first line names {len(names)}")
    return dict(zip(names, rows[0], strict=True)) if rows else {}


def _json_lines(text: str) -> dict[str, str]:
    first: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
        if not isinstance(value, dict):
            raise ValueError(f"line {number} is not an object")
        if missing := [name for name in first if name not in value]:
            raise ValueError(f"line {number} has no {missing[0]!r}")
        first = first or {name: _text(one) for name, one in value.items()}
    return first


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
