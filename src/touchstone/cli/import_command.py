"""`touchstone import`: an entry of another benchmark becomes a stack."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from touchstone.cli.schema_command import write_schemas
from touchstone.failure import UsageError, did_you_mean
from touchstone.intake.adopt import adopt
from touchstone.intake.entry import BenchmarkEntry
from touchstone.intake.http_arena import read_http_arena
from touchstone.intake.techempower import read_techempower

_BENCHMARKS: dict[str, Callable[[Path], BenchmarkEntry]] = {
    "httparena": read_http_arena,
    "techempower": read_techempower,
}


def import_entry(
    benchmark: Annotated[str, typer.Argument(help=f"Whose entry it is: {' or '.join(_BENCHMARKS)}.")],
    folder: Annotated[Path, typer.Argument(help="The entry's folder, with its description and its Dockerfile.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The scenario's folder, made if it is not there; one named after the benchmark if left out.",
            show_default=False,
        ),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(help="A test that a new scenario asks; repeat it. All of the entry's first image if left out."),
    ] = None,
) -> None:
    """Make a stack from a HttpArena or TechEmpower entry, in a scenario with the same tests."""
    if benchmark not in _BENCHMARKS:
        hint = did_you_mean(benchmark, _BENCHMARKS)
        raise UsageError(f"there are no entries of {benchmark!r}", fix=f"{hint}there are: {', '.join(_BENCHMARKS)}")
    scenario = out or Path(benchmark)
    adopted = adopt(_BENCHMARKS[benchmark](folder), scenario, test or ())
    write_schemas(scenario)
    for path in adopted.written:
        typer.echo(path)
    for one in adopted.left_out:
        typer.echo(one)
    typer.echo(f"measure it: touchstone run {scenario} --quick")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import")(import_entry)
