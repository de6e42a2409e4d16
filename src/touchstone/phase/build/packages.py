"""Which of a build's files are packages: a build that lays them next to its program has fetched them finished."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path


def as_fetched(paths: Collection[Path], stores: Iterable[Path]) -> set[Path]:
    """Files whose content is also in a package manager's store, under any name.

    Quarkus and `mvn dependency:copy-dependencies` copy jars with the times that they have in the store, which
    `install` filled before the build began.
    """
    by_size: dict[int, list[Path]] = {}
    for path in paths:
        by_size.setdefault(path.stat().st_size, []).append(path)
    found: set[Path] = set()
    for stored in _files(stores) if by_size else ():
        for path in by_size.get(stored.stat().st_size, ()):
            if path not in found and filecmp.cmp(path, stored, shallow=False):
                found.add(path)
        if len(found) == len(paths):
            break
    return found


def _files(stores: Iterable[Path]) -> Iterator[Path]:
    for store in stores:
        for folder, _, names in os.walk(store):
            yield from (path for name in names if (path := Path(folder, name)).is_file())
