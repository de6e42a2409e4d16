"""Finds claims files: those of touchstone, and a user's own wherever they lie."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from touchstone.failure import UsageError, did_you_mean
from touchstone.manifest.catalogue import ScenarioFolder, read_scenario_folder
from touchstone.manifest.claim import ClaimsFile
from touchstone.manifest.files import SCENARIO_FILE, STACK_FILE, scenarios_in
from touchstone.manifest.reader import ManifestError, read_manifest

GUIDE = "docs/claims.md"


def read_claims(path: Path) -> ClaimsFile:
    """Read one file. Raises ManifestError that names the claim by its id."""
    try:
        return read_manifest(path, ClaimsFile)
    except ManifestError as error:
        raise ManifestError(_with_ids(path, error.what), where=error.where, fix=error.fix) from error


def _with_ids(path: Path, text: str) -> str:
    """The message with `claims.3` replaced by the id of that claim, where it has one."""
    try:
        claims = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("claims", [])
    except (OSError, ValueError):
        return text

    def name(match: re.Match[str]) -> str:
        index = int(match.group(1))
        known = isinstance(claims, list) and index < len(claims) and isinstance(claims[index], dict)
        return f"claims[{claims[index].get('id', index)}]" if known else match.group()

    return re.sub(r"claims\.(\d+)", name, text)


def claims_in(folder: Path) -> list[Path]:
    """The claims files of a folder, by name."""
    return sorted(folder.glob("*.toml"))


def find_claims(name: str | None, folder: Path) -> list[tuple[Path, ClaimsFile]]:
    """The files asked for by path, name or letter; all of `folder` if none is asked. Raises UsageError."""
    if name is not None and Path(name).is_file():
        return [(Path(name), read_claims(Path(name)))]
    found = [(path, read_claims(path)) for path in claims_in(folder)]
    if name is None:
        if not found:
            raise UsageError("there are no claims", where=str(folder), fix=f"name a file; {GUIDE} says how to write it")
        return found
    chosen = [(p, f) for p, f in found if name.lower() in (f.name, f.letter.lower(), p.stem)]
    if chosen:
        return chosen
    names = [f.name for _, f in found]
    hint = did_you_mean(name, names)
    raise UsageError(
        f"there are no claims called {name!r}, nor a file of that name",
        fix=f"{hint}there are: {', '.join(names) or 'none'}",
    )


def scenarios_of(found: Sequence[tuple[Path, ClaimsFile]], lab: Path) -> dict[str, ScenarioFolder]:
    """The scenarios that claims are about, by name: those of touchstone's folder, else a user's own near the claims.

    What is nowhere is left out.
    """
    known = {name: folder for name, folder in scenarios_in(lab).items() if any(folder.glob(f"*/{STACK_FILE}"))}
    result: dict[str, ScenarioFolder] = {}
    for path, file in found:
        for name in file.scenarios - result.keys():
            scenario = read_scenario_folder(known[name]) if name in known else _own_scenario(name, path.parent)
            if scenario is not None:
                result[name] = scenario
    return result


def _own_scenario(name: str, folder: Path) -> ScenarioFolder | None:
    """A user's scenario: next to the claims file, around it, or in the working folder."""
    for place in (folder, folder.parent, folder / name, Path.cwd() / name):
        if (place / SCENARIO_FILE).is_file() and (own := read_scenario_folder(place)).scenario.name == name:
            return own
    return None
