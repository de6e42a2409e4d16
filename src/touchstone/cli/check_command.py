"""`touchstone check`: finds errors in a scenario's manifests without building anything."""

from __future__ import annotations

from typing import Annotated

import typer

from touchstone.check.folder import check_folder
from touchstone.check.keys import check_keys
from touchstone.check.problem import in_order
from touchstone.cli import completion, options
from touchstone.cli.places import scenarios_root, usual_scenario
from touchstone.failure import ExitCode
from touchstone.manifest.catalogue import find_scenario
from touchstone.manifest.files import SCENARIO_FILE
from touchstone.manifest.keys import find, tables
from touchstone.manifest.keys_page import listing
from touchstone.report.format import plural


def check(
    scenario: Annotated[
        str | None,
        typer.Argument(
            help=f"{options.SCENARIO} With --keys a table, such as loads.NAME.",
            autocompletion=completion.scenarios,
        ),
    ] = None,
    keys: Annotated[
        bool, typer.Option("--keys", help="List the keys of a table of the manifests, or of all tables.")
    ] = False,
) -> int:
    """Check manifests: patterns, templates, names, times and files. `run` does it first.

    Two things are shown without failing the check: environment variables that are not set here, and loads whose
    expectations do not depend on the requested key.
    """
    if keys:
        typer.echo(listing(find(scenario) if scenario else tables().values()))
        return ExitCode.OK
    folder = find_scenario(scenario or usual_scenario(), scenarios_root())
    problems = check_folder(folder)
    unchecked = in_order(check_keys(folder.folder / SCENARIO_FILE, folder.scenario))
    for problem in [*problems, *unchecked]:
        typer.echo(str(problem))
    variants = sum(len(stack.variants) for stack in folder.stacks)
    wrong = [problem for problem in problems if not problem.of_environment]
    found = plural(len(wrong), "problem") if wrong else "nothing wrong"
    counts = {"check": len(folder.scenario.contract), "load": len(folder.scenario.loads), "variant": variants}
    looked_at = ", ".join(plural(count, noun) for noun, count in counts.items())
    typer.echo(f"{folder.scenario.name}: {looked_at}: {found}")
    return ExitCode.USAGE if wrong else ExitCode.OK


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check")(check)
