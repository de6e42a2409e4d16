"""`touchstone list`: scenarios and their contenders, or the runs that were made."""

from __future__ import annotations

import json as json_module
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from touchstone.cli.places import results_root, scenarios_root
from touchstone.manifest.catalogue import Contender, read_scenario_folder, scenarios_in
from touchstone.record.store import runs_in
from touchstone.run.plan import find_tools


def list_(
    runs: Annotated[bool, typer.Option("--runs", help="The runs in ./results instead.")] = False,
    json: Annotated[bool, typer.Option("--json", help="For a machine.")] = False,
) -> None:
    """List the scenarios with their contenders, and what each contender still needs."""
    rows = _runs() if runs else _contenders()
    if json:
        typer.echo(json_module.dumps(rows, indent=1))
        return
    table = Table(*rows[0].keys(), box=None, header_style="bold") if rows else Table("nothing to list", box=None)
    for row in rows:
        table.add_row(*(str(value or "") for value in row.values()))
    Console().print(table)


def _runs() -> list[dict[str, str | None]]:
    return [{"run": run.name, "folder": str(run)} for run in runs_in(results_root())]


def _contenders() -> list[dict[str, str | None]]:
    rows: list[dict[str, str | None]] = []
    for folder in scenarios_in(scenarios_root()).values():
        found = read_scenario_folder(folder)
        for stack in found.stacks:
            for name, variant in stack.variants.items():
                tools = find_tools(Contender(stack, name))
                rows.append(
                    {
                        "scenario": found.scenario.name,
                        "contender": f"{stack.name}/{name}",
                        "what": f"{stack.title}, {variant.title}",
                        "exhibit": variant.exhibit,
                        "missing": tools if isinstance(tools, str) else None,
                    }
                )
    return rows


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("list")(list_)
