"""Where the lab's scenarios and a user's results lie."""

from __future__ import annotations

import os
from pathlib import Path

from touchstone.failure import UsageError
from touchstone.record.store import runs_in


def scenarios_root() -> Path:
    """The folder of the scenarios: `TOUCHSTONE_SCENARIOS`, the working folder's, or that of this checkout."""
    if named := os.environ.get("TOUCHSTONE_SCENARIOS"):
        return Path(named)
    for folder in (Path.cwd(), *Path(__file__).resolve().parents):
        if any((folder / "scenarios").glob("*/scenario.toml")):
            return folder / "scenarios"
    return Path.cwd() / "scenarios"


def claims_root() -> Path:
    """The folder of the lab's claims: the working folder's if it holds any, else that of this checkout."""
    for folder in (Path.cwd(), *Path(__file__).resolve().parents):
        if any((folder / "claims").glob("*.toml")):
            return folder / "claims"
    return Path.cwd() / "claims"


def results_root() -> Path:
    """The folder of the results, below the working folder."""
    return Path.cwd() / "results"


def find_run(name: str) -> Path:
    """A run by its folder, its id, the end of its id, or `last`. Raises UsageError."""
    folder = Path(name)
    if (folder / "plan.json").is_file():
        return folder
    runs = runs_in(results_root())
    if name == "last" and runs:
        return runs[-1]
    matching = [run for run in runs if run.name == name or name in run.name]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise UsageError(
            f"{name!r} fits {len(matching)} runs", mend=f"say which: {', '.join(r.name for r in matching)}"
        )
    known = ", ".join(run.name for run in runs[-5:]) or "none yet; `touchstone run` makes one"
    raise UsageError(f"there is no run {name!r}", mend=f"`last`, a folder, or one of: {known}")
