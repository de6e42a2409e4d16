"""`touchstone clean`: old results and unused builds, shown first and removed when asked."""

from __future__ import annotations

import re
import time
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from touchstone.cli.places import results_root
from touchstone.failure import UsageError
from touchstone.report.format import size
from touchstone.run.disk import (
    StoredFolder,
    builds_above_limit,
    builds_kept,
    in_use,
    remove,
    runs_kept,
    runs_older_than,
)

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def clean(
    results_older_than: Annotated[
        float | None, typer.Option(min=0, help="Runs in ./results that have not changed for this number of days.")
    ] = None,
    cache_above: Annotated[
        str, typer.Option(help="Builds in the cache, the longest unused first, until they fit: 2GiB, 500MiB, 0.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Remove them; without it they are only shown.")] = False,
) -> None:
    """Remove old results and unused builds; without --yes only list them."""
    limit = _bytes(cache_above) if cache_above else None
    runs, builds = runs_kept(results_root()), builds_kept()
    console = Console()
    _tell(console, "results", runs)
    _tell(console, "builds", builds)
    if results_older_than is None and limit is None:
        console.print("say what may be removed: --results-older-than 30, --cache-above 2GiB", highlight=False)
        return
    going = [] if results_older_than is None else runs_older_than(runs, time.time(), results_older_than)
    going += [] if limit is None else builds_above_limit(builds, limit)
    busy = [entry for entry in going if in_use(entry)]
    going = [entry for entry in going if entry not in busy]
    _show(console, going)
    for entry in busy:
        console.print(f"kept, because a process uses it: {entry.path}", highlight=False, soft_wrap=True)
    if not going:
        console.print("nothing to remove", highlight=False)
    elif not yes:
        console.print(f"{_total(going)} would be removed; --yes removes them", highlight=False)
    else:
        for entry in going:
            remove(entry)
        console.print(f"{_total(going)} removed", highlight=False)


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--cache-above {text!r} is not a size", fix="such as 2GiB, 500MiB or 0")
    return int(float(found[1]) * 1024 ** _POWERS[found[2].lower()])


def _total(entries: list[StoredFolder]) -> str:
    noun = "folder" if len(entries) == 1 else "folders"
    return f"{len(entries)} {noun}, {size(sum(entry.bytes for entry in entries))}"


def _tell(console: Console, what: str, entries: list[StoredFolder]) -> None:
    console.print(f"{what}: {_total(entries)}", highlight=False)


def _show(console: Console, entries: list[StoredFolder]) -> None:
    table = Table("last used", "size", "folder", box=None, header_style="bold", pad_edge=False)
    table.columns[1].justify = "right"
    table.columns[2].overflow = "fold"
    for entry in entries:
        table.add_row(time.strftime("%Y-%m-%d", time.gmtime(entry.changed_at)), size(entry.bytes), str(entry.path))
    if entries:
        console.print(table, highlight=False)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("clean")(clean)
