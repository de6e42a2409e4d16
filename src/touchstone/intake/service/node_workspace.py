"""The packages of a workspace of npm, pnpm, Yarn or Bun: which of them a service needs, in the order of builds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from touchstone.failure import UsageError
from touchstone.intake.service.reading import read_json, read_text, table_at
from touchstone.intake.service.workspace import members, place_in, root_of

MARK = "package.json"
_PNPM = "pnpm-workspace.yaml"
_LINKS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


@dataclass(frozen=True)
class NodeWorkspace:
    """What is copied to build a service, and what of it belongs to the service."""

    root: Path
    """The folder that holds the lock file: the service's own, unless a workspace has it."""
    place: str
    """The service's, below it; empty at its top."""
    members: Sequence[str]
    """The folders of all its packages, below the root."""
    needed: Sequence[str]
    """The folders of the packages that the service depends on, each behind those that it needs itself."""

    def built(self) -> list[str]:
        """Needed packages that have a script `build`."""
        return [place for place in self.needed if "build" in _scripts(self.root / place)]

    def files(self) -> list[str]:
        """What says which packages there are, below the root."""
        patterns = [_PNPM] if (self.root / _PNPM).is_file() else []
        return [MARK, *patterns, *(f"{place}/{MARK}" for place in self.members)]


def workspace_of(service: Path) -> NodeWorkspace:
    """The workspace that a service belongs to, or itself. Raises UsageError."""
    root = root_of(service, _patterns) or service.resolve()
    folders = [folder for folder in members(root, _patterns(root)) if (folder / MARK).is_file()]
    packages = {str(read_json(folder / MARK).get("name")): folder for folder in folders}
    place = place_in(service, root)
    return NodeWorkspace(
        root,
        place,
        [place_in(folder, root) for folder in folders],
        [place_in(folder, root) for folder in _needed(service.resolve(), packages)],
    )


def starting(workspace: NodeWorkspace) -> list[str]:
    """The folders of the packages that have a script `start`, where the workspace's top was named."""
    return [place for place in workspace.members if "start" in _scripts(workspace.root / place)]


def _patterns(folder: Path) -> list[str]:
    """The packages of a folder's workspace."""
    if (folder / _PNPM).is_file():
        try:
            patterns = yaml.safe_load(read_text(folder / _PNPM))
        except yaml.YAMLError as error:
            raise UsageError(f"it is not YAML: {error}", where=str(folder / _PNPM), fix="correct the file") from error
        return _texts(patterns.get("packages") if isinstance(patterns, dict) else None)
    patterns = read_json(folder / MARK).get("workspaces") if (folder / MARK).is_file() else None
    return _texts(patterns.get("packages") if isinstance(patterns, dict) else patterns)


def _texts(patterns: object) -> list[str]:
    return [one for one in patterns if isinstance(one, str)] if isinstance(patterns, list) else []


def _needed(service: Path, packages: Mapping[str, Path]) -> list[Path]:
    """Folders of the packages that a service depends on, each behind its own dependencies."""
    found: list[Path] = []
    entered: set[Path] = set()

    def visit(folder: Path) -> None:
        entered.add(folder)
        for name in _linked(read_json(folder / MARK)):
            if (other := packages.get(name)) is not None and other not in entered:
                visit(other)
        found.append(folder)

    visit(service)
    return found[:-1]


def _linked(manifest: Mapping[str, Any]) -> Iterator[str]:
    for kind in _LINKS:
        yield from table_at(manifest, kind)


def scripts_of(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """The scripts of a package.json."""
    return {name: script for name, script in table_at(manifest, "scripts").items() if isinstance(script, str)}


def _scripts(folder: Path) -> Mapping[str, str]:
    return scripts_of(read_json(folder / MARK))
