"""Shell completion of scenarios, stacks and runs. `touchstone --install-completion` installs it."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from touchstone.cli.places import results_root, scenarios_root, usual_scenario
from touchstone.failure import TouchstoneError
from touchstone.manifest.files import SCENARIO_FILE
from touchstone.record.store import runs_in


def scenarios(incomplete: str) -> list[str]:
    """Return the scenarios of touchstone, and scenario folders below the working folder."""
    named = [path.parent.name for path in scenarios_root().glob(f"*/{SCENARIO_FILE}")]
    near = [f"./{path.parent.name}" for path in results_root().parent.glob(f"*/{SCENARIO_FILE}")]
    return sorted(word for word in {*named, *near} if word.startswith(incomplete))


def runs(incomplete: str) -> list[str]:
    """Return `last` and the ids of the runs in ./results, the latest first."""
    ids = [run.name for run in reversed(runs_in(results_root()))]
    return [word for word in ("last", *ids) if word.startswith(incomplete)]


def stacks(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Complete a comma-separated list of stacks of the scenario that was typed before."""
    # The types of manifests load for longer than other words are completed.
    from touchstone.manifest.catalogue import find_scenario  # noqa: PLC0415

    done, comma, begun = incomplete.rpartition(",")
    try:
        # An option that still lacks its value ends the parsing, and the argument before it stays among the rest.
        named = ctx.args[0] if ctx.args else ctx.params.get("scenario") or usual_scenario()
        folder = find_scenario(named, scenarios_root())
    except TouchstoneError:
        return
    for stack in folder.stacks:
        if stack.name.startswith(begun):
            yield f"{done}{comma}{stack.name}"
