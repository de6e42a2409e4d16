"""`touchstone comment`: the result of `ab` as the pull request's comment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from touchstone.cli.completion import runs
from touchstone.cli.github import NoCommentError, PullRequest
from touchstone.cli.pairs import read_pair
from touchstone.cli.places import find_run
from touchstone.failure import UsageError
from touchstone.judge.judge import judge
from touchstone.record.store import load_run
from touchstone.report.markdown import escaped
from touchstone.report.pull_request import comment_document, earlier_verdicts, mark_of
from touchstone.report.view import View

_SUMMARY = "GITHUB_STEP_SUMMARY"


def comment(
    run: Annotated[
        str, typer.Argument(help="A run of `ab`: its id or folder, or `last`.", autocompletion=runs)
    ] = "last",
) -> None:
    """Write the result of `ab` as the pull request's comment, which later results replace. For GitHub Actions.

    GITHUB_TOKEN needs `pull-requests: write`. Without it the job's summary says why there is no comment.
    """
    folder = find_run(run)
    judged = read_pair(folder)
    if judged is None or isinstance(judged.base, str):
        raise UsageError("this run does not compare two revisions", where=str(folder), fix="name a run of `ab`")
    measured = load_run(folder)
    view = View(measured, judge(measured))
    try:
        pull = PullRequest.of_job(os.environ)
        earlier = pull.comment(mark_of(judged))
        known = earlier_verdicts(str(earlier["body"])) if earlier else []
        typer.echo(f"the result is at {pull.write(comment_document(judged, view, known), earlier)}")
    except NoCommentError as error:
        words = f"There is no comment on a pull request: {error}."
        typer.echo(words)
        if summary := os.environ.get(_SUMMARY):
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(f"\n{escaped(words)}\n")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("comment")(comment)
