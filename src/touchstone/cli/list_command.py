"""`touchstone list`: lists scenarios with their contenders, or runs."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.cli.completion import scenarios
from touchstone.cli.past_runs import past_runs
from touchstone.cli.places import results_root, scenarios_root
from touchstone.manifest.catalogue import Contender, ScenarioFolder, find_scenario, read_scenario_folder
from touchstone.manifest.files import SCENARIO_FILE, scenarios_in
from touchstone.plan.plan import find_tools

Rows = list[dict[str, str | None]]

_LOG_WIDTH = 400
_WIDEST = 44
"""Columns of a terminal that a column keeps for itself, at the most."""


def list_(
    scenario: Annotated[
        str,
        typer.Argument(
            help="Only this scenario, by name or folder: a line for each contender.", autocompletion=scenarios
        ),
    ] = "",
    runs: Annotated[bool, typer.Option("--runs", help="List the runs in ./results instead, the latest first.")] = False,
    exhibits: Annotated[
        bool, typer.Option("--exhibits", help="Also list the variants with a deliberate defect.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The list as JSON, with nothing hidden.")] = False,
) -> None:
    """List the scenarios with their contenders, and what each contender still needs."""
    rows = past_runs(results_root(), _name(scenario)) if runs else _contenders(scenario)
    if json:
        typer.echo(json_module.dumps(rows, indent=1))
        return
    console = Console()
    if runs:
        shown = [{key: value for key, value in row.items() if key != "folder"} for row in rows]
    elif scenario:
        shown = list(_one_scenario(rows, exhibits=exhibits))
    else:
        shown = list(_by_stack(rows, exhibits=exhibits))
    _print(console, shown)
    if not runs:
        _print_hints(console, rows, scenario, exhibits=exhibits)


def _print(console: Console, rows: Rows) -> None:
    """A line a row: on a terminal the last column gives way, in a log nothing is cut."""
    if not rows:
        console.print("nothing to list", highlight=False)
        return
    if not console.is_terminal:
        console.width = _LOG_WIDTH
    table = Table(box=None, header_style="bold", pad_edge=False)
    *kept, last = rows[0]
    for name in kept:
        widest = max(len(name), *(len(row[name] or "") for row in rows))
        table.add_column(name, no_wrap=True, min_width=min(widest, _WIDEST))
    table.add_column(last, no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*(Text(value or "") for value in row.values()))
    console.print(table, highlight=False)


def _print_hints(console: Console, rows: Rows, scenario: str, *, exhibits: bool) -> None:
    hints = []
    if any(row["missing"] for row in rows):
        hints.append(f"{'missing' if scenario else '* needs a missing tool'}: see `touchstone doctor`")
    folded = sum(bool(row["exhibit"]) for row in rows)
    if folded and not exhibits:
        hints.append(f"{folded} exhibits are hidden; --exhibits shows them")
    if hints:
        console.print("; ".join(hints), highlight=False, soft_wrap=True)


def _one_scenario(rows: Rows, *, exhibits: bool) -> Iterator[dict[str, str | None]]:
    for row in rows:
        if exhibits or not row["exhibit"]:
            what = f"exhibit: {row['exhibit']}" if row["exhibit"] else row["what"]
            yield {"contender": row["contender"], "what": what, "missing": _needs(row["missing"])}


def _needs(missing: str | None) -> str:
    """Return the names of missing tools, without installation advice."""
    return "; ".join(part for part in (missing or "").split("; ") if part.startswith("needs"))


def _by_stack(rows: Rows, *, exhibits: bool) -> Iterator[dict[str, str | None]]:
    """A line for each stack, with its variants; a star where something is missing for one."""
    stacks: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if exhibits or not row["exhibit"]:
            stack, variant = str(row["contender"]).split("/", 1)
            star = "*" if row["missing"] else ""
            stacks.setdefault((str(row["scenario"]), stack), []).append(variant + star)
    before = ""
    for (scenario, stack), variants in stacks.items():
        yield {"scenario": "" if scenario == before else scenario, "stack": stack, "variants": ", ".join(variants)}
        before = scenario


def _name(scenario: str) -> str:
    """The name of a scenario that may be given as a folder. Runs may be older than the scenario is."""
    if (Path(scenario) / SCENARIO_FILE).is_file():
        return find_scenario(scenario, scenarios_root()).scenario.name
    return scenario


def _contenders(scenario: str) -> Rows:
    if scenario:
        return list(_of_folder(find_scenario(scenario, scenarios_root())))
    folders = scenarios_in(scenarios_root()).values()
    return [row for folder in folders for row in _of_folder(read_scenario_folder(folder))]


def _of_folder(found: ScenarioFolder) -> Iterator[dict[str, str | None]]:
    for stack in found.stacks:
        for name, variant in stack.variants.items():
            tools = find_tools(Contender(stack, name))
            yield {
                "scenario": found.scenario.name,
                "contender": f"{stack.name}/{name}",
                "what": f"{stack.title}, {variant.title}",
                "exhibit": variant.exhibit,
                "missing": tools if isinstance(tools, str) else None,
            }


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("list")(list_)
