"""`touchstone import`: turns an entry of another benchmark into a stack, and its result files into a board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from touchstone.cli.schema_command import write_schemas
from touchstone.failure import UsageError, did_you_mean
from touchstone.intake.adopt import adopt
from touchstone.intake.entry import BenchmarkEntry
from touchstone.intake.http_arena import read_http_arena
from touchstone.intake.techempower import read_techempower
from touchstone.record.published import PUBLISHED_FILE
from touchstone.report.format import plural
from touchstone.whole_file import write_whole

_BENCHMARKS: dict[str, Callable[[Path], BenchmarkEntry]] = {
    "httparena": read_http_arena,
    "techempower": read_techempower,
}


def import_entry(
    benchmark: Annotated[str, typer.Argument(help=f"The benchmark of the files: {' or '.join(_BENCHMARKS)}.")],
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER | FILE...",
            help="An entry's folder, with its description and its Dockerfile; or published result files, for a board.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder to write to, created if missing; by default it is named after the benchmark.",
            show_default=False,
        ),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(help="A test for a new scenario; repeatable. By default all tests of the entry's first image."),
    ] = None,
) -> None:
    """Make a stack from a HttpArena or TechEmpower entry, or keep published results for `touchstone site`."""
    if benchmark not in _BENCHMARKS:
        hint = did_you_mean(benchmark, _BENCHMARKS)
        raise UsageError(f"there are no entries of {benchmark!r}", fix=f"{hint}there are: {', '.join(_BENCHMARKS)}")
    folders = [path for path in paths if not path.is_file()]
    if not folders:
        if test:
            raise UsageError("--test belongs to an entry's folder", fix="leave it out: all tests of a file are kept")
        _import_results(benchmark, paths, out or Path(benchmark))
        return
    if len(paths) > 1:
        missing = [path for path in folders if not path.exists()]
        what = "there is no such file" if missing else "is a folder among several paths"
        fix = "name one entry's folder, or result files alone"
        raise UsageError(what, where=str((missing or folders)[0]), fix=fix)
    scenario = out or Path(benchmark)
    adopted = adopt(_BENCHMARKS[benchmark](folders[0]), scenario, test or ())
    write_schemas(scenario)
    for path in adopted.written:
        typer.echo(path)
    for one in adopted.left_out:
        typer.echo(one)
    typer.echo(f"measure it: touchstone run {scenario} --quick")


def _import_results(benchmark: str, files: Sequence[Path], out: Path) -> None:
    kept = out / PUBLISHED_FILE
    if kept.exists():
        raise UsageError("there are imported results already", where=str(kept), fix="name another folder with --out")
    # Statistics load for as long as a short help is read.
    from touchstone.audit.figures import published_figures  # noqa: PLC0415

    published, left_out = published_figures(files, benchmark)
    for word in left_out:
        typer.echo(f"left out: {word}", err=True)
    write_whole(kept, published.model_dump_json(by_alias=True, exclude_defaults=True) + "\n")
    entries, tests = ({getattr(one, name) for one in published.figures} for name in ("entry", "test"))
    typer.echo(f"{kept}: {plural(len(entries), 'entry', 'entries')} under {plural(len(tests), 'test')}")
    typer.echo(f"show it: touchstone site {out} --out public")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import")(import_entry)
