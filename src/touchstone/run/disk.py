"""Results and builds on disk: their sizes, and which may be removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from touchstone.isolation.container import ContainerRuntime, remove_image
from touchstone.phase.build.image import image_name
from touchstone.record.store import runs_in
from touchstone.toolchain.cache import cache_folder

_BUILDS = "builds"
KEPT_ANEW = (_BUILDS, "installs")
"""Folders of the cache whose entries are made again when they are needed; tools are not among them."""


@dataclass(frozen=True)
class StoredFolder:
    """A folder that touchstone keeps: a run's results, or what a build or an installation left."""

    path: Path
    bytes: int
    """On disk, with sparse files and hard links counted as the file system does."""
    changed_at: float
    """The latest change in it, in seconds since the epoch."""


def kept(path: Path) -> StoredFolder:
    """Return size and time of the latest change of a folder. Files that vanish meanwhile are ignored."""
    total, latest = 0, 0.0
    seen: set[tuple[int, int]] = set()
    for folder, _, names in os.walk(path):
        for place in (folder, *(os.path.join(folder, name) for name in names)):  # noqa: PTH118 (a cache has 100,000 files)
            try:
                state = os.lstat(place)
            except FileNotFoundError:
                continue
            latest = max(latest, state.st_mtime)
            if (state.st_dev, state.st_ino) not in seen:
                seen.add((state.st_dev, state.st_ino))
                total += state.st_blocks * 512
    return StoredFolder(path, total, latest)


def runs_kept(root: Path) -> list[StoredFolder]:
    """The runs below a folder of results, the oldest first."""
    return sorted(map(kept, runs_in(root)), key=lambda run: run.changed_at)


def builds_kept() -> list[StoredFolder]:
    """The builds and installations in the cache, the one longest unused first."""
    folders = [cache_folder() / name for name in KEPT_ANEW]
    entries = [path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_dir()]
    return sorted(map(kept, entries), key=lambda entry: entry.changed_at)


def runs_older_than(runs: Iterable[StoredFolder], now: float, days: float) -> list[StoredFolder]:
    """The runs unchanged for that number of days."""
    return [run for run in runs if now - run.changed_at > days * 86400]


def builds_above_limit(builds: list[StoredFolder], limit: int) -> list[StoredFolder]:
    """Return the longest unused builds that must be removed to stay within `limit` bytes."""
    excess = sum(entry.bytes for entry in builds) - limit
    going = []
    for entry in builds:
        if excess <= 0:
            break
        going.append(entry)
        excess -= entry.bytes
    return going


def in_use(entry: StoredFolder) -> bool:
    """Whether a visible process works in the folder or runs a program from it."""
    home = f"{entry.path.resolve()}/"
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("cwd", "exe"):
            try:
                if f"{(process / name).readlink()}/".startswith(home):
                    return True
            except OSError:
                continue
    return False


def remove(entry: StoredFolder) -> None:
    """Remove the folder, the lock next to an installation, and the image that a build made. Raises OSError."""
    shutil.rmtree(entry.path)
    entry.path.with_name(f"{entry.path.name}.lock").unlink(missing_ok=True)
    if entry.path.parent.name == _BUILDS:
        for found in filter(None, map(shutil.which, ("podman", "docker"))):
            remove_image(ContainerRuntime(Path(found)), image_name(entry.path))
