"""`touchstone ab`: is this revision worse than that one? Both are measured in one run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from touchstone.cli import options
from touchstone.cli.pair_code import pair_code
from touchstone.cli.places import as_typed, results_root
from touchstone.cli.terms import read_figures, read_share
from touchstone.failure import TouchstoneError, UsageError
from touchstone.judge.comparison.across import Terms
from touchstone.judge.comparison.pair import PairStanding
from touchstone.judge.comparison.revisions import Revision, RevisionsJudgement
from touchstone.report import junit, render, revisions
from touchstone.report.annotations import annotation_lines
from touchstone.report.format import plural
from touchstone.report.pair import print_pair
from touchstone.report.view import View
from touchstone.report.why.terminal import print_explanation
from touchstone.revisions.ab import EXPLAINED, SAME, SHARP, Answer, Question, compare_revisions
from touchstone.revisions.contenders import REVISION
from touchstone.revisions.repository import Repository
from touchstone.run.measure import Conditions
from touchstone.run.progress import display_for


def ab(
    base: Annotated[str, typer.Argument(help="The revision to compare with: a branch, a tag, a commit.")],
    head: Annotated[
        str | None, typer.Argument(help="The revision in question; the working tree as it is if left out.")
    ] = None,
    scenario: options.ScenarioWithin = None,
    stack: options.StackWithin = None,
    command: Annotated[
        str | None,
        typer.Option(
            help="For a service that is built elsewhere: a line for sh that puts a revision's artifacts into the work "
            "folder, in place of its build; {revision} is the commit."
        ),
    ] = None,
    load: options.Loads = None,
    figure: Annotated[
        list[str] | None,
        typer.Option("--figure", help=f"A figure to ask about, if wanted with its margin: {SHARP[0]}=2%. Repeatable."),
    ] = None,
    margin: options.PairMargin = "3%",
    minutes: options.PairMinutes = 5.0,
    allow_undecided: options.AllowUndecided = False,
    fresh_builds: Annotated[bool, typer.Option("--fresh-builds", help="Build again what was built before.")] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Where the CPU per request differs, profile both and say in what.")
    ] = False,
    out: options.Out = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a summary for a pull request to this file.")] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")] = None,
    github: Annotated[bool, typer.Option("--github", help="Also print annotations for GitHub Actions.")] = False,
    json: options.Json = False,
) -> int:
    """Compare two git revisions of a service in one run: which figures are better, worse or equivalent."""
    if json and github:
        raise UsageError("--json and --github exclude each other", fix="give one of them")
    for path in filter(None, (markdown, junit_file)):
        if not path.parent.is_dir():
            raise UsageError(f"{path} cannot be written: there is no folder {path.parent}", fix="make it first")
        if path.is_dir():
            raise UsageError(f"{path} cannot be written: it is a folder", fix="name a file in it")
    named = read_figures(figure or SHARP)
    terms = Terms(margin=read_share(margin), confidence=0.95, figures=named, loads=())
    if why and EXPLAINED not in named:
        raise UsageError(f"--why takes {EXPLAINED} apart, which is not asked about", fix=f"add --figure {EXPLAINED}")
    here = Path.cwd()
    repository = Repository.around(here)
    earlier = repository.revision(base)
    later = repository.revision(head) if head else repository.working_tree(results_root())
    _fetchable(command, (earlier, later))
    console = Console(stderr=json)
    console.print(f"base: {earlier.words}\nhead: {later.words}", highlight=False, markup=False, soft_wrap=True)
    notes = _noted(console, repository, (earlier, later))
    answer = compare_revisions(
        repository,
        (earlier, later),
        Question(terms, tuple(load or ()), scenario, stack, as_typed(), command, why, skips_same=True),
        here=here,
        conditions=Conditions(
            results=results_root(),
            folder=out,
            display=display_for(console),
            fresh_builds=fresh_builds,
            until_decided_s=minutes * 60,
            notes=notes,
        ),
    )
    _write(answer, markdown, junit_file, allow_undecided=allow_undecided)
    said = answer.revisions
    if json:
        typer.echo(said.model_dump_json(indent=1, by_alias=True))
    else:
        console = Console()
        print_pair(console, said, terms, View(answer.run, answer.judgement))
        if SAME in said.notes:
            console.print(SAME, highlight=False, soft_wrap=True)
        _tell_why(console, said, asked=why)
        told = f"{plural(said.rounds, 'round')}; report: {answer.folder / 'report.html'}"
        console.print(told, highlight=False, soft_wrap=True)
        if said.standing is PairStanding.WORSE and head and repository.leads(earlier, later):
            console.print(f"which commit it was: touchstone bisect {base} {head}", highlight=False, markup=False)
    if github:
        for line in annotation_lines(said, answer.run, answer.judgement):
            typer.echo(line)
    return pair_code(said, allow_undecided=allow_undecided)


def _noted(console: Console, repository: Repository, revisions: tuple[Revision, Revision]) -> list[str]:
    """What is known of the revisions before anything is measured, told at once: which they are, and what they lack."""
    earlier, later = revisions
    notes = [f"base is {earlier.words}", f"head is {later.words}"]
    if earlier.commit == later.commit:
        notes.append("both are the same commit: what differs is noise")
    notes += repository.remarks(revisions)
    for note in notes[2:]:
        console.print(note, highlight=False, markup=False, soft_wrap=True, style="yellow")
    return notes


def _tell_why(console: Console, said: RevisionsJudgement, *, asked: bool) -> None:
    """Where the difference of CPU per request is; or that there is none, or how it is found."""
    for one in said.why:
        print_explanation(console, one)
        console.print()
    if asked and not said.why and not said.interrupted and said.standing is not PairStanding.INVALID:
        console.print("why: no load shows that CPU per request differs, so nothing was profiled", highlight=False)
    elif not asked and any(change.worse for change in said.changes if change.figure == EXPLAINED):
        again = shlex.join([*as_typed(), "--why"])
        console.print(f"where it needs more CPU: {again}", highlight=False, markup=False, soft_wrap=True)


def _fetchable(command: str | None, revisions: tuple[Revision, Revision]) -> None:
    """Raise UsageError if a command cannot fetch what was built of these revisions."""
    if command is None:
        return
    if REVISION not in command:
        raise UsageError(
            f"--command {command!r} fetches the same for both revisions",
            fix=f"let {REVISION} stand for the commit: --command 'cp /srv/releases/{REVISION}/server .'",
        )
    for revision in revisions:
        if revision.dirty:
            raise UsageError(
                f"nothing can have been built of {revision.words}", fix="commit, build, and name the commit as the head"
            )


def _write(answer: Answer, markdown: Path | None, junit_file: Path | None, *, allow_undecided: bool) -> None:
    """The run's reports, and the files that were asked for. Raises TouchstoneError if one cannot be written."""
    render(answer.run, answer.judgement, answer.folder)
    texts = {
        markdown: revisions.document(answer.revisions, answer.run, answer.judgement),
        junit_file: junit.document(answer.revisions, allow_undecided=allow_undecided),
    }
    for path, text in texts.items():
        if path is not None:
            try:
                path.write_text(text, encoding="utf-8")
            except OSError as error:
                raise TouchstoneError(
                    f"cannot be written: {error.strerror}", where=str(path), fix="name another file"
                ) from error


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ab")(ab)
