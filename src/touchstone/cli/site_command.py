"""`touchstone site`: a static site over the runs of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from touchstone.failure import TouchstoneError, UsageError
from touchstone.record.published import PUBLISHED_FILE, load_published
from touchstone.record.run import Run
from touchstone.record.store import load_run
from touchstone.report.format import plural


def site(
    folder: Annotated[
        Path, typer.Argument(help="A folder with runs or imported results; those in its subfolders count too.")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write to, created if missing.")],
    title: Annotated[str, typer.Option(help="The site's title; the folder's name if left out.")] = "",
) -> None:
    """Write a site over runs: contenders in rank groups, two side by side, over time, with reports and badges."""
    if not folder.is_dir():
        raise UsageError("there is no such folder", where=str(folder), fix="name the folder of the runs")
    found = sorted(path.parent for path in folder.rglob("plan.json") if out.resolve() not in path.resolve().parents)
    runs: dict[str, Run] = {}
    for place in found:
        try:
            run = load_run(place)
        except TouchstoneError as error:
            typer.echo(f"left out: {error}", err=True)
            continue
        if run.plan.run_id in runs:
            typer.echo(f"left out: {place}: another folder has the same run {run.plan.run_id}", err=True)
            continue
        runs[run.plan.run_id] = run
    published = []
    for place in sorted(folder.rglob(PUBLISHED_FILE)):
        try:
            published.append(load_published(place))
        except TouchstoneError as error:
            typer.echo(f"left out: {error}", err=True)
    if not runs and not published:
        fix = "name a folder that contains runs; `touchstone run` writes them to results"
        raise UsageError("no run in it can be read", where=str(folder), fix=fix)
    # Plots and statistics load for as long as a short help is read.
    from touchstone.site.page import write_site  # noqa: PLC0415

    page, *others = write_site(list(runs.values()), out, title or folder.resolve().name, published)
    imported = f" and {plural(len(published), 'import')}" if published else ""
    typer.echo(f"{page}: {plural(len(runs), 'run')}{imported}, with {len(others)} reports and badges next to it")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("site")(site)
