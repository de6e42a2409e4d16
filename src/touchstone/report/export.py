"""One registry of exporters, and `render`, which runs them all into a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from touchstone.failure import TouchstoneError
from touchstone.report import csv, html, json, markdown
from touchstone.report.view import View
from touchstone.whole_file import write_whole


@dataclass(frozen=True)
class Exporter:
    """A form that a report is written in."""

    name: str
    file_name: str
    document: Callable[[View], str]


EXPORTERS = (
    Exporter("html", "report.html", html.document),
    Exporter("markdown", "report.md", markdown.document),
    Exporter("csv", "report.csv", csv.document),
    Exporter("json", "report.json", json.document),
)
"""All forms of a report that are files."""


def render(view: View, folder: Path, *, only: Iterable[str] | None = None) -> list[Path]:
    """Write the reports of a run to `folder`: all forms, or those named in `only`. A file is replaced whole.

    Raises TouchstoneError if a file cannot be written.
    """
    wanted = None if only is None else set(only)
    return [
        write(folder / exporter.file_name, exporter.document(view))
        for exporter in EXPORTERS
        if wanted is None or exporter.name in wanted
    ]


def write(path: Path, text: str) -> Path:
    """Write a report whole: a full disk leaves an older one. Raises TouchstoneError if it cannot be written."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise TouchstoneError(
            f"cannot write the report: {error.strerror or error}",
            where=str(path),
            fix="free some space or name another folder; the samples are kept: `touchstone report RUN` tries again",
        ) from error
    return path
