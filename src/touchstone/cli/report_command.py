"""`touchstone report`: a run's HTML, Markdown, CSV and JSON again from its records, or the draft of a post."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from touchstone.cli.completion import runs
from touchstone.cli.places import claims_root, find_run
from touchstone.judge.claims.evidence import Judged
from touchstone.judge.claims.judge import judge_claims
from touchstone.judge.judge import judge
from touchstone.manifest.claims_folder import claims_in, read_claims
from touchstone.record.store import load_run
from touchstone.report import render
from touchstone.report.article import render_article
from touchstone.report.claims.view import Ruled
from touchstone.report.view import View


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
        written += _article(Judged(measured, judgement), out or folder / "article")
    for path in written:
        typer.echo(path)


def _article(judged: Judged, folder: Path) -> list[Path]:
    files = [read_claims(path) for path in claims_in(claims_root())]
    about = [file for file in files if file.scenario == judged.run.plan.scenario]
    ruled = [Ruled(file, judge_claims(file, [judged]), (judged,)) for file in about]
    return render_article(View(judged.run, judged.judgement), ruled, folder)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)
