"""`touchstone show`: a run's result on the terminal."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from touchstone.cli import options
from touchstone.cli.completion import runs
from touchstone.cli.places import find_run
from touchstone.judge.judge import judge
from touchstone.record.store import load_run
from touchstone.report import json as json_report
from touchstone.report import print_report
from touchstone.report.view import View


def show(
    run: Annotated[str, typer.Argument(help="A run's id or folder, or `last`.", autocompletion=runs)] = "last",
    json: Annotated[bool, typer.Option("--json", help="The whole result as JSON.")] = False,
    details: options.Details = False,
    lines: Annotated[bool, typer.Option("--lines", help="One line a figure, for searching in a log.")] = False,
) -> None:
    """Judge a run again from its records, and show it."""
    measured = load_run(find_run(run))
    view = View(measured, judge(measured))
    if json:
        typer.echo(json_report.document(view))
    else:
        print_report(Console(), view, lines=lines, details=details)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("show")(show)
