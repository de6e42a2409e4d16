"""`touchstone article`: a post's draft from a run."""

from __future__ import annotations

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
from touchstone.report.article import render_article
from touchstone.report.claims.view import Ruled
from touchstone.report.view import View


def article(
    run: Annotated[str, typer.Argument(help="A run's id or folder, or `last`.", autocompletion=runs)] = "last",
    out: Annotated[
        Path | None, typer.Option(help="The folder for draft and plots; `article` in the run's if left out.")
    ] = None,
) -> None:
    """Write a draft of a post about a run: method, tables, plots and verdicts."""
    folder = find_run(run)
    measured = load_run(folder)
    judged = Judged(measured, judge(measured))
    files = [read_claims(path) for path in claims_in(claims_root())]
    about = [file for file in files if file.scenario == measured.plan.scenario]
    ruled = [Ruled(file, judge_claims(file, [judged]), (judged,)) for file in about]
    for path in render_article(View(measured, judged.judgement), ruled, out or folder / "article"):
        typer.echo(path)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("article")(article)
