"""Folders of scenarios and results."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from touchstone.bundle.archive import is_bundle, lay_out, unpack
from touchstone.failure import UsageError
from touchstone.manifest.files import SCENARIO_FILE, scenarios_in
from touchstone.record.secret import shown_command
from touchstone.record.store import runs_in

_SHIPPED = Path(__file__).resolve().parents[1] / "shipped"
"""What touchstone brings: links into the checkout, and folders of their own in a wheel."""
USUAL = "users"
"""The default scenario."""


def scenarios_root() -> Path:
    """The folder of the scenarios: `TOUCHSTONE_SCENARIOS`, the working folder's, or touchstone's own."""
    if named := os.environ.get("TOUCHSTONE_SCENARIOS"):
        return Path(named)
    own = Path.cwd() / "scenarios"
    return own if any(own.glob("*/scenario.toml")) else (_SHIPPED / "scenarios").resolve()


def usual_scenario() -> str:
    """The scenario that is meant where none is named: the only one in the working folder, else touchstone's `users`.

    Raises UsageError if there are several.
    """
    if Path(SCENARIO_FILE).is_file():
        return "."
    known = scenarios_in(scenarios_root())
    own = list(scenarios_in(Path())) or ([] if USUAL in known else list(known))
    if len(own) > 1:
        raise UsageError("it is not clear which scenario is meant", fix=f"name one of: {', '.join(own)}")
    return own[0] if own else USUAL


def claims_root() -> Path:
    """The folder of the claims: the working folder's if it holds any, else touchstone's own."""
    own = Path.cwd() / "claims"
    return own if any(own.glob("*.toml")) else (_SHIPPED / "claims").resolve()


def schemas_root() -> Path:
    """The folder of the JSON Schemas."""
    return (_SHIPPED / "schema").resolve()


def results_root() -> Path:
    """The folder of the results, below the working folder."""
    return Path.cwd() / "results"


def find_run(name: str) -> Path:
    """A run by its folder, its bundle, its id, the end of its id, or `last`. Raises UsageError.

    The folder of a bundle is a temporary one, removed when the command ends.
    """
    folder = Path(name)
    if (folder / "plan.json").is_file():
        return folder
    if is_bundle(folder):
        laid_out = Path(tempfile.mkdtemp(prefix="touchstone-bundle-"))
        atexit.register(shutil.rmtree, laid_out, ignore_errors=True)
        lay_out(unpack(folder)[1], laid_out)
        return laid_out
    runs = runs_in(results_root())
    if name == "last" and runs:
        return runs[-1]
    matching = [run for run in runs if run.name == name or name in run.name]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise UsageError(f"{name!r} fits {len(matching)} runs", fix=f"say which: {', '.join(r.name for r in matching)}")
    known = f"name `last`, a folder, or one of: {', '.join(run.name for run in runs[-5:])}"
    raise UsageError(
        f"there is no run {name!r}",
        fix=known if runs else "name a folder, or make a run with `touchstone run`",
    )


def as_typed() -> tuple[str, ...]:
    """The command line, without where the command lies on this machine, and without secrets."""
    return ("touchstone", *shown_command(sys.argv[1:]))
