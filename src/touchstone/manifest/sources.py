"""The files of a stack that its build and installation read, without leftovers of earlier ones."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from touchstone.manifest.files import SCENARIO_FILE
from touchstone.manifest.stack import Stack

_LEFT = frozenset({"node_modules", ".venv", ".git", "__pycache__"})
"""Folders that an installation, a run or git leaves, wherever they lie."""
_LINK = ".git"
"""As a file it is what a worktree or a submodule has in place of the folder."""
_READS = ("-c", "core.fsmonitor=false", "-c", "safe.directory=*")
"""Nothing of the repository is executed, so that it may belong to another user, as in a container."""
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""Set within a hook, where they would lead to the hook's own tree."""
_OUTPUTS = {
    "target": ("pom.xml", "Cargo.toml"),
    "build": ("build.gradle", "build.gradle.kts", "CMakeLists.txt", "package.json", "pyproject.toml", "setup.py"),
    ".gradle": ("build.gradle", "build.gradle.kts"),
    "bin": ("*.csproj", "*.fsproj"),
    "obj": ("*.csproj", "*.fsproj"),
}
"""Folders that a build by hand leaves, and the files next to them that tell it; elsewhere they are sources."""


def source_files(stack: Stack) -> list[tuple[Path, Path]]:
    """The files that a build needs, with their place in the work folder.

    What earlier builds, installations and runs left is not a source, unless a pattern of `sources` names its folder.
    Nor is what git ignores, such as the output of a build by hand or a developer's own settings, unless `sources` names
    it. What a variant ships without a build is one wherever it lies.
    """
    found: dict[Path, Path] = {}
    ignored = _ignored(stack.folder)
    for pattern in stack.sources:
        own = _files(stack.folder, Path(), pattern)
        named = frozenset(Path(pattern).parts)
        found |= own if pattern in map(str, own) else _without(ignored, own, named)
    for name, relative in stack.extra_sources.items():
        root = (stack.folder / relative).resolve()
        found |= _without(_ignored(root), _files(root, Path(name), "**"), frozenset())
    for word in _shipped_as_it_lies(stack):
        shipped = files_like(stack, word)
        if not any(place in found for _, place in shipped):
            found |= {place: path for path, place in shipped}
    return [(path, relative) for relative, path in sorted(found.items())]


def _shipped_as_it_lies(stack: Stack) -> Iterator[str]:
    """The words of `artifacts` that stand for files of an extra source, neither built nor installed."""
    for name, variant in stack.variants.items():
        install = stack.install_of(name)
        leaves = [Path(leave) for leave in install.leaves] if install else []
        for word in variant.artifacts if variant.base is None and not variant.build else ():
            place = Path(word)
            installed = any(place.is_relative_to(leave) or leave.is_relative_to(place) for leave in leaves)
            if place.parts[0] in stack.extra_sources and not installed:
                yield word


def files_like(stack: Stack, pattern: str) -> list[tuple[Path, Path]]:
    """The files like a pattern of the work folder, with their place in it. Its first part may be an extra source's.

    Raises ValueError, NotImplementedError or IndexError if it is not a pattern.
    """
    first, *rest = Path(pattern).parts
    elsewhere = stack.extra_sources.get(first)
    if elsewhere is None:
        found = _files(stack.folder, Path(), pattern)
    else:
        found = _files((stack.folder / elsewhere).resolve(), Path(first), str(Path(*rest) if rest else "**"))
    return [(path, relative) for relative, path in found.items()]


def _without(ignored: set[Path], found: dict[Path, Path], named: frozenset[str]) -> dict[Path, Path]:
    """Files that git does not ignore, and those in an ignored folder of such a name."""
    kept = {path for path in ignored if path.name not in named}
    return {place: path for place, path in found.items() if kept.isdisjoint((path, *path.parents))}


def _ignored(root: Path) -> set[Path]:
    """The files and folders below a folder that git ignores. None if it is not a repository or is ignored itself."""
    words = [
        "git",
        *_READS,
        "-C",
        str(root),
        "ls-files",
        "--others",
        "--ignored",
        "--exclude-standard",
        "--directory",
        "-z",
    ]
    env = {name: value for name, value in os.environ.items() if name not in _PLACES}
    try:
        done = subprocess.run(words, env=env, capture_output=True, text=True, errors="surrogateescape", check=False)
    except OSError:
        return set()
    named = done.stdout.split("\0")[:-1] if done.returncode == 0 else []
    return {root / name for name in named} - {root}


def _files(root: Path, prefix: Path, pattern: str) -> dict[Path, Path]:
    """The files below `root` that are like the pattern: place in the work folder -> path."""
    parts = Path(pattern).parts
    named, known = set(parts), {root: True}
    # Before Python 3.13 `**` at the end stands for folders alone.
    whole = str(Path(pattern) / "*") if parts[-1:] == ("**",) else pattern
    files = (path for path in sorted(root.glob(whole)) if path.is_file() and path.name != _LINK)
    like = (path for path in files if _is_source(path.parent, named, known))
    return {prefix / path.relative_to(root): path for path in like}


def _is_source(folder: Path, named: set[str], known: dict[Path, bool]) -> bool:
    """Whether files of this folder are sources. `known` holds the answer for the root, and grows."""
    if folder not in known:
        left = folder.name not in named and (_is_left_over(folder) or _is_of_the_lab(folder))
        known[folder] = not left and _is_source(folder.parent, named, known)
    return known[folder]


def _is_left_over(folder: Path) -> bool:
    marks = _OUTPUTS.get(folder.name, ())
    return folder.name in _LEFT or any(next(folder.parent.glob(mark), None) for mark in marks)


def _is_of_the_lab(folder: Path) -> bool:
    """Whether it is a scenario, or the result of a run: neither is part of a service whose repository holds it."""
    return (folder / SCENARIO_FILE).is_file() or ((folder / "plan.json").is_file() and (folder / "samples").is_dir())
