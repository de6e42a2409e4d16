"""`touchstone report`: a run's HTML, Markdown, CSV and JSON again from its records, or the draft of a post."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from touchstone.cli.completion import runs
from touchstone.cli.places import find_run
from touchstone.judge.judge import judge
from touchstone.record.store import load_run
from touchstone.report import render


class Format(StrEnum):
    """What a report is written as."""

    HTML = "html"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"
    ARTICLE = "article"


def report(
    run: Annotated[str, typer.Argument(help="A run's id or folder, or `last`.", autocompletion=runs)] = "last",
    format: Annotated[
        list[Format] | None,
        typer.Option(
            "--format",
            help="Only this form; may be given again. All but `article` if left out, which is the draft of a post: "
            "method, tables, plots, and verdicts on published statements.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write to; the run's if left out, and `article` in it for the draft."),
    ] = None,
) -> None:
    """Write a run's reports again, or the draft of a post about it."""
    folder = find_run(run)
    measured = load_run(folder)
    judgement = judge(measured)
    wanted = set(format or Format) - ({Format.ARTICLE} if not format else set())
    written = render(measured, judgement, out or folder, only={one.value for one in wanted})
    if Format.ARTICLE in wanted:
        # Claims and manifests load for as long as a report is written, and only the draft of a post needs them.
        from touchstone.cli.post import write_post  # noqa: PLC0415

        written += write_post(measured, judgement, out or folder / "article")
    for path in written:
        typer.echo(path)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)
