"""`touchstone report`: write a run's HTML, Markdown, CSV and JSON again from its records."""

from __future__ import annotations

from typing import Annotated

import typer

from touchstone.cli.completion import runs
from touchstone.cli.places import find_run
from touchstone.judge.judge import judge
from touchstone.record.store import load_run
from touchstone.report import render


def report(
    run: Annotated[str, typer.Argument(help="A run's id or folder, or `last`.", autocompletion=runs)] = "last",
) -> None:
    """Write the reports of a run anew."""
    folder = find_run(run)
    measured = load_run(folder)
    for path in render(measured, judge(measured), folder):
        typer.echo(path)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)
