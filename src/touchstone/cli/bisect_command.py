"""`touchstone bisect`: finds the commit that made the service worse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from touchstone.cli import options
from touchstone.cli.places import as_typed, results_root
from touchstone.cli.terms import read_figures, read_share
from touchstone.failure import ExitCode
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.pair import Revision
from touchstone.record.base import Record
from touchstone.revisions.ab import RevisionQuestion
from touchstone.revisions.bisect import Bisection, BisectionResult, BisectionState
from touchstone.revisions.repository import Repository
from touchstone.run.measure import RunConditions
from touchstone.run.progress import display_for


class _BisectDocument(Record):
    """What `--json` prints."""

    first_bad: Revision | None
    candidates: list[Revision]
    search: BisectionState


def bisect(
    good: Annotated[str, typer.Argument(help="A revision that was still good.")],
    bad: Annotated[str, typer.Argument(help="A later revision that is worse.")] = "HEAD",
    figure: Annotated[
        str, typer.Option(help="The figure that became worse, if wanted with its margin: throughput=2%.")
    ] = "cpu_per_request",
    load: Annotated[
        str | None,
        typer.Option(help="The load under which the figure became worse; by default the load with the largest loss."),
    ] = None,
    margin: Annotated[str, typer.Option(help="The least loss that matters, such as 3% or 0.03.")] = "3%",
    minutes: Annotated[
        float, typer.Option(min=0.1, help="The time limit of a step. A step ends as soon as it is decided.")
    ] = 5.0,
    scenario: options.ScenarioWithin = None,
    stack: options.StackWithin = None,
    json: options.Json = False,
) -> int:
    """Find the commit that made a figure worse, by bisection. Each step is as short as its decision allows."""
    figures = read_figures([figure])
    here = Path.cwd()
    repository = Repository.around(here)
    console = Console(stderr=json)

    def say(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    search = Bisection(
        repository,
        repository.revision(good),
        repository.revision(bad),
        RevisionQuestion(
            ComparisonTerms(margin=read_share(margin), confidence=0.95, figures=figures),
            (load,) if load else (),
            scenario,
            stack,
            as_typed(),
        ),
        here,
        RunConditions(results=results_root(), until_decided_s=minutes * 60),
        lambda: display_for(console),
        say,
    )
    found = search.find()
    if json:
        typer.echo(_document(found).model_dump_json(indent=1))
    else:
        _tell(found, say)
    return ExitCode.OK if len(found.candidates) == 1 else ExitCode.UNDECIDED


def _document(found: BisectionResult) -> _BisectDocument:
    return _BisectDocument(
        first_bad=found.candidates[0] if len(found.candidates) == 1 else None,
        candidates=found.candidates,
        search=found.search,
    )


def _tell(found: BisectionResult, say: Callable[[str], None]) -> None:
    if len(found.candidates) == 1:
        (first,) = found.candidates
        say(f"\nthe first bad commit is {first.commit}\n  {first.subject}")
        return
    say("\nthe first bad commit is one of these, which are undecided:")
    for candidate in found.candidates:
        say(f"  {candidate.commit} {candidate.subject}")
    say("  to decide: more time (`--minutes`); results are kept, so only these commits are measured again")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("bisect")(bisect)
