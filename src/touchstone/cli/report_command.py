"""`touchstone report`: a run's HTML, Markdown, CSV and JSON again from its records, or the draft of a post."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from touchstone.bundle.archive import is_bundle
from touchstone.cli.completion import runs
from touchstone.cli.places import find_run
from touchstone.failure import UsageError, did_you_mean
from touchstone.judge.judge import judge
from touchstone.record.store import load_run
from touchstone.report.export import EXPORTERS, render
from touchstone.report.view import View

_ARTICLE = "article"
_REPORTS = tuple(exporter.name for exporter in EXPORTERS)


def report(
    run: Annotated[str, typer.Argument(help="A run's id or folder, or `last`.", autocompletion=runs)] = "last",
    format: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help=f"Only this form: {', '.join(_REPORTS)}, or {_ARTICLE}, a post's draft with method, tables, plots "
            f"and verdicts on published statements; may be given again. All but {_ARTICLE} if left out.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write to; the run's if left out, and `article` in it for the draft."),
    ] = None,
) -> None:
    """Write a run's reports again, or the draft of a post about it."""
    wanted = format or _REPORTS
    for name in wanted:
        if name not in (*_REPORTS, _ARTICLE):
            hint = did_you_mean(name, (*_REPORTS, _ARTICLE))
            raise UsageError(f"there is no form {name!r}", fix=f"{hint}there are: {', '.join((*_REPORTS, _ARTICLE))}")
    if out is None and is_bundle(Path(run)):
        raise UsageError("a bundle has no folder for its reports", where=run, fix="name one: --out FOLDER")
    folder = find_run(run)
    measured = load_run(folder)
    view = View(measured, judge(measured))
    written = render(view, out or folder, only=wanted)
    if _ARTICLE in wanted:
        # Claims and manifests load for as long as a report is written, and only the draft of a post needs them.
        from touchstone.cli.post import write_post  # noqa: PLC0415

        written += write_post(view, out or folder / "article")
    for path in written:
        typer.echo(path)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)
