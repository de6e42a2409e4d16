"""The head's scenario with each revision's stack, as two contenders of one run."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from touchstone.failure import UsageError
from touchstone.manifest.catalogue import Contender, ScenarioFolder, read_scenario_folder
from touchstone.manifest.catalogue import select_contenders as select
from touchstone.manifest.files import SCENARIO_FILE, STACK_FILE
from touchstone.manifest.reader import ManifestError, read_manifest
from touchstone.manifest.sources import source_files
from touchstone.manifest.stack import Stack

BASE, HEAD, TWIN = "base", "head", "twin"
"""What the stacks are called in the run; the twin is the base once more."""
REVISION = "{revision}"
"""What stands for the commit in a command that fetches what was built of it."""


def scenario_place(asked: str | None, here: Path, found: Sequence[Path]) -> Path:
    """Which scenario folder is meant, relative to the repository's top. Raises UsageError.

    Args:
        asked: a folder relative to `here`, or a scenario folder's name; None for the one around `here`,
            or the only one.
        here: the working folder, relative to the top.
        found: the scenario.toml files of the head, relative to the top.

    """
    folders = [path.parent for path in found]
    if asked is None:
        around = [folder for folder in (here, *here.parents) if folder in folders]
        chosen = around[:1] or folders
    else:
        there = Path(_normal(here / asked))
        chosen = [there] if there in folders else [folder for folder in folders if folder.name == asked]
    if len(chosen) == 1:
        return chosen[0]
    known = ", ".join(map(str, chosen or folders))
    if asked is not None and not chosen:
        raise UsageError(
            f"there is no scenario {asked!r} in the head: no such folder with a {SCENARIO_FILE}",
            fix=f"--scenario FOLDER is one of: {known}" if known else "`touchstone new` makes one; commit it",
        )
    if not folders:
        raise UsageError(
            f"there is no scenario: the head has no {SCENARIO_FILE}",
            fix="`touchstone new` makes one: it says what the service must answer, and which load is put on it",
        )
    raise UsageError("it is not clear which scenario is meant", fix=f"add --scenario FOLDER, one of: {known}")


def fetched(folder: ScenarioFolder, variant: str, command: str, commits: Mapping[str, str]) -> ScenarioFolder:
    """The folder, with a shell command in place of each stack's installation and build.

    Args:
        folder: of two stacks.
        variant: the one that is measured.
        command: puts the artifacts into the work folder; `{revision}` stands for the commit.
        commits: by stack.

    Raises:
        UsageError: the variant is an image, or is built upon another.

    """
    stacks = []
    for stack in folder.stacks:
        own = stack.variants[variant]
        if own.image is not None or own.base is not None:
            raise UsageError(
                f"--command cannot replace the build of {variant}, which is an image or built upon another variant",
                fix="name a variant that has its own `build`, `artifacts` and `run`: --stack STACK/VARIANT",
            )
        line = command.replace(REVISION, commits[stack.name])
        own = own.model_copy(update={"install": None, "build": [["/bin/sh", "-ec", line]]})
        stacks.append(stack.model_copy(update={"install": None, "variants": {**stack.variants, variant: own}}))
    return ScenarioFolder(folder.folder, folder.scenario, tuple(stacks))


def two_stacks(
    scenario: Path, base: Path, head: Path, asked: str | None, *, twin: bool = False
) -> tuple[ScenarioFolder, str]:
    """A scenario folder with the requested stack from folders `base` and `head`, and its name.

    Returns:
        The folder, with the stacks `base` and `head`, and with `twin` the base once more; and `stack/variant`.

    Raises:
        UsageError: it is not clear which stack is meant.
        ManifestError: a revision does not have it.

    """
    folder = read_scenario_folder(scenario)
    contender = _one(folder, asked)
    _lend(contender.stack, base / contender.stack.folder.relative_to(folder.folder))
    stacks: tuple[Stack, ...] = tuple(
        _stack_of(revision, name, folder, contender) for revision, name in ((base, BASE), (head, HEAD))
    )
    if twin:
        stacks += (stacks[0].model_copy(update={"name": TWIN}),)
    judged = folder.scenario.model_copy(update={"baseline": BASE})
    return ScenarioFolder(folder.folder, judged, stacks), contender.name


def same_sources(folder: ScenarioFolder) -> bool:
    """Whether base and head are built from the same files by the same manifest."""
    first, second = ([(place, path) for path, place in source_files(stack)] for stack in folder.stacks[:2])
    manifests = [stack.model_dump(exclude={"folder", "name"}) for stack in folder.stacks[:2]]
    return (
        manifests[0] == manifests[1]
        and [place for place, _ in first] == [place for place, _ in second]
        and all(_same(one, other) for (_, one), (_, other) in zip(first, second, strict=True))
    )


def _same(one: Path, other: Path) -> bool:
    return one.stat().st_mode == other.stat().st_mode and one.read_bytes() == other.read_bytes()


def _lend(stack: Stack, place: Path) -> None:
    """Lay the stack into a checked-out revision that does not have it yet: its sources then lie elsewhere in both."""
    if stack.extra_sources and not place.exists():
        shutil.copytree(stack.folder, place)


def _stack_of(revision: Path, name: str, folder: ScenarioFolder, contender: Contender) -> Stack:
    """A revision's version of the contender's stack, under its name in the run."""
    wanted, variant = contender.stack, contender.variant_name
    place = wanted.folder.relative_to(folder.folder)
    manifest = revision / place / STACK_FILE
    if not manifest.is_file():
        raise ManifestError(
            f"the {name} has no stack {wanted.name!r}: there is no {place / STACK_FILE} in its scenario folder",
            where=str(place / STACK_FILE),
            fix="compare with a revision that has it; or name its sources by `extra_sources`",
        )
    found = read_manifest(manifest, Stack)
    if found.scenario != folder.scenario.name or variant not in found.variants:
        missing = f"variant {variant!r}" if found.scenario == folder.scenario.name else f"{folder.scenario.name!r}"
        raise ManifestError(
            f"the {name}'s stack {wanted.name!r} has no {missing}",
            where=str(place / STACK_FILE),
            fix="compare with a revision that has it, or another variant: --stack STACK/VARIANT",
        )
    return found.model_copy(update={"folder": manifest.parent.resolve(), "name": name})


def _one(folder: ScenarioFolder, asked: str | None) -> Contender:
    found = select(folder, [asked] if asked else [])
    if len(found) == 1:
        return found[0]
    names = ", ".join(contender.name for contender in found)
    raise UsageError("it is not clear which stack is meant", fix=f"add --stack STACK/VARIANT, one of: {names}")


def _normal(path: Path) -> str:
    """The path without `..`, which stays as it is where it would leave the top."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."
