"""A service that is one of several packages in a repository with one lock file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

Patterns = Callable[[Path], Sequence[str]]
"""The folders that the workspace of a folder has, as patterns below it; a `!` before one leaves folders out."""
_OTHERS = "node_modules"


def root_of(service: Path, patterns: Patterns) -> Path | None:
    """The nearest folder above a service whose workspace has it, in the same repository. None if it is on its own."""
    place = service.resolve()
    return next((folder for folder in folders_above(service) if place in members(folder, patterns(folder))), None)


def folders_above(service: Path) -> Iterator[Path]:
    """The folders above a service in its repository, the nearest first."""
    place = service.resolve()
    for below, folder in pairwise([place, *place.parents[:-1]]):
        if (below / ".git").exists():
            break
        yield folder


def members(root: Path, patterns: Sequence[str]) -> list[Path]:
    """The folders that these patterns name."""
    left_out = set(_named(root, [one[1:] for one in patterns if one.startswith("!")]))
    named = dict.fromkeys(_named(root, [one for one in patterns if not one.startswith("!")]))
    return [folder for folder in named if folder not in left_out]


def _named(root: Path, patterns: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        # A pattern of two stars would walk through all that was installed.
        plain = pattern.strip("/").removeprefix("./")
        if plain and ".." not in Path(plain).parts:
            found = (path for path in root.glob(plain) if _OTHERS not in path.relative_to(root).parts)
            yield from sorted(path.resolve() for path in found if path.is_dir())


def place_in(service: Path, root: Path) -> str:
    """Where a service lies within a workspace, with slashes between; empty at its top."""
    place = service.resolve().relative_to(root.resolve()).as_posix()
    return "" if place == "." else place


def holding(service: Path, others: Sequence[Path]) -> Path:
    """The nearest folder that has a service and these others, in the same repository. Its own if there is none."""
    place = service.resolve()
    folders = (place, *folders_above(service))
    return next((one for one in folders if all(other.is_relative_to(one) for other in others)), place)
