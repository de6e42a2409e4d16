"""What a format knows a file by, and what reads it: four kinds of files that tools write."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.audit.published import PublishedResult

Row = Mapping[str, str]


@dataclass(frozen=True)
class PrintedText:
    """What a tool prints."""

    tool: str
    starts: re.Pattern[str]
    """Where the output of a run begins: once a run, and so one result for each."""
    read: Callable[[str, str], PublishedResult]
    """The result of one run's text, under a name."""


@dataclass(frozen=True)
class JsonDocument:
    """A JSON document."""

    tool: str
    recognises: Callable[[Any], bool]
    read: Callable[[Any, str], Sequence[PublishedResult]]


@dataclass(frozen=True)
class JsonLines:
    """JSON documents of which each is an event of one run."""

    tool: str
    recognises: Callable[[Any], bool]
    read: Callable[[Sequence[Any], str], PublishedResult]


@dataclass(frozen=True)
class CsvTable:
    """Comma-separated values with a head."""

    tool: str
    columns: frozenset[str]
    """Columns that distinguish it from others."""
    read: Callable[[Iterable[Row], str], PublishedResult]


Shape = PrintedText | JsonDocument | JsonLines | CsvTable


def decimal(text: str | None) -> float | None:
    """A cell's number, with a decimal point or comma. None for `N/A`, an empty cell, and a text."""
    cell = (text or "").strip().rstrip("%")
    if "," in cell and "." in cell:
        cell = cell.replace(min(",", ".", key=cell.rindex), "")
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def whole(text: str | None) -> int | None:
    """A cell's count; None for what is none."""
    found = decimal(text)
    return round(found) if found is not None and math.isfinite(found) else None


def field(name: str, value: str = r"([\d.]+)") -> re.Pattern[str]:
    """A line such as `  Name:  value`, with the value as its group."""
    return re.compile(rf"^\s*{name}\s*:?\s+{value}", re.MULTILINE)


def group_of(pattern: re.Pattern[str], text: str) -> str | None:
    """The pattern's group in a text; None if the text has it not."""
    found = pattern.search(text)
    return found[1] if found else None


class LackingError(ValueError):
    """A file lacks a part that its format has, in words."""


def required_group(pattern: re.Pattern[str], text: str, what: str) -> str:
    """The pattern's group in a text. Raises LackingError."""
    found = group_of(pattern, text)
    if found is None:
        raise LackingError(f"no line `{what}`")
    return found
