"""`touchstone compare`: two runs side by side, and a gate for CI."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from touchstone.cli.places import find_run
from touchstone.failure import ExitCode, InvalidRunError
from touchstone.judge.across import Change, changes, comparable
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Outcome
from touchstone.record.figure import FIGURES
from touchstone.record.store import load_run
from touchstone.report.format import quantity, ratio, ratio_interval

_WORDS = {Outcome.FASTER: "[green]better[/]", Outcome.SLOWER: "[red]worse[/]"}


def compare(
    before: Annotated[str, typer.Argument(help="The earlier run: an id, a folder, or `last`.")],
    after: Annotated[str, typer.Argument(help="The later run.")] = "last",
    margin: Annotated[float, typer.Option(help="The least change that matters, as a share.", min=0.001)] = 0.05,
    gate: Annotated[
        bool, typer.Option("--gate", help="End with code 3 if any figure has really become worse.")
    ] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="Compare even if machine or scenario differ.")] = False,
    all: Annotated[bool, typer.Option("--all", help="Also the figures that did not change.")] = False,
    json: Annotated[bool, typer.Option("--json", help="For a machine.")] = False,
) -> int:
    """Put two runs side by side: which figures have really changed."""
    old, new = load_run(find_run(before)), load_run(find_run(after))
    if (reasons := comparable(old, new)) and not anyway:
        raise InvalidRunError(
            "the runs cannot be compared: " + "; ".join(reasons),
            mend="measure both on the same machine with the same engine and profile, or give --anyway",
        )
    found = changes(judge(old), judge(new), margin, new.plan.confidence)
    if json:
        typer.echo("[" + ",\n".join(change.model_dump_json() for change in found) + "]")
    else:
        _print(found, everything=all)
    worse = [change for change in found if change.worse]
    return ExitCode.GATE if gate and worse else ExitCode.OK


def _print(found: list[Change], *, everything: bool) -> None:
    console = Console()
    shown = [c for c in found if everything or c.outcome in _WORDS]
    if shown:
        table = Table("contender", "load", "figure", "before", "after", "ratio", "", box=None, header_style="bold")
        for change in shown:
            figure = FIGURES[change.figure]
            table.add_row(
                change.contender,
                change.load or "",
                figure.title,
                quantity(change.before, figure.unit),
                quantity(change.after, figure.unit),
                f"{ratio(change.ratio)} ({ratio_interval(change.low, change.high)})",
                _WORDS.get(change.outcome, change.outcome.value),
            )
        console.print(table)
    undecided = sum(change.outcome is Outcome.UNDECIDED for change in found)
    console.print(f"{len(found)} figures compared, {len(shown)} shown, {undecided} undecided")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)
