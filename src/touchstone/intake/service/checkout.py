"""What a checkout lacks: submodules that were not fetched, and files that Git LFS has only pointers to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from touchstone.intake.service.reading import read_source

_SUBMODULE = re.compile(r"^\s*path\s*=\s*(.+?)\s*$", re.MULTILINE)
_POINTER = b"version https://git-lfs.github.com/spec/"
_LARGEST_POINTER = 1024
"""Bytes; Git LFS's specification has no larger one."""
_SHOWN = 5
_MOST_FILES = 50_000


def lacking(copied: Path) -> list[str]:
    """What is missing in the folder that is copied to be built, and what brings it."""
    marks = []
    if missing := list(_submodules(copied)):
        marks.append(f"{_named('submodule', missing)} not there: git submodule update --init --recursive")
    if pointers := list(_pointers(copied)):
        marks.append(f"{_named('file', pointers)} only a pointer of Git LFS: git lfs pull")
    return marks


def _submodules(copied: Path) -> Iterator[str]:
    """The paths of its repository's submodules below a folder, in which nothing lies."""
    folder = copied.resolve()
    top = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)
    for path in _SUBMODULE.findall(read_source(top / ".gitmodules")):
        place = top / path
        if place.is_relative_to(folder) and not (place.is_dir() and any(place.iterdir())):
            yield str(place.relative_to(folder))


def _pointers(copied: Path) -> Iterator[str]:
    left = _MOST_FILES
    for folder, below, files in os.walk(copied):
        below[:] = sorted(name for name in below if name not in (".git", "node_modules", ".venv", "target"))
        for name in sorted(files):
            file = Path(folder, name)
            left -= 1
            if left < 0:
                return
            if _is_pointer(file):
                yield str(file.relative_to(copied))


def _is_pointer(file: Path) -> bool:
    try:
        if not file.is_file() or not len(_POINTER) < file.stat().st_size <= _LARGEST_POINTER:
            return False
        with file.open("rb") as opened:
            return opened.read(len(_POINTER)) == _POINTER
    except OSError:
        return False


def _named(what: str, names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    shown = ", ".join(names[:_SHOWN])
    return f"{what}s {shown}{more} are" if len(names) > 1 else f"{what} {shown} is"
