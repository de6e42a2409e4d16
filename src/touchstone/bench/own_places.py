"""What a contender changes in folders that all programs share: a layer of its own takes it, and ends with it.

A service could otherwise leave itself a word in `/tmp` at its first start, and act on it at the second.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import psutil

from touchstone.bench.base import Built
from touchstone.isolation.child import start_child
from touchstone.isolation.private_places import PrivatePlaces

_TEMPORARY = (Path("/tmp"), Path("/var/tmp"))
"""Each holds the layer of the other: a layer may not be below its own folder."""
_IN_MEMORY = Path("/dev/shm")
_PREFIX = "touchstone-layer-"
_NAMED = re.compile(r"(?:/[\w.@+=-]+)+")


@contextmanager
def own_places(built: Built, env: Mapping[str, str], *shared: Path) -> Iterator[PrivatePlaces | None]:
    """The temporary folders as a contender is to see them, for one start.

    None for an image, or if not permitted.

    Its work folder, and what its command and its environment name, are shared with touchstone and with dependencies,
    and so are these folders.
    """
    if built.image is not None or not _are_permitted():
        yield None
        return
    kept = _kept(built, env) | set(shared)
    with _layers(place for place in _TEMPORARY if place not in kept) as layered:
        yield PrivatePlaces(
            layered=layered,
            emptied=() if _IN_MEMORY in kept else (_IN_MEMORY,),
            kept=tuple(path for path in sorted(kept) if kept.isdisjoint(path.parents)),
        )


def _kept(built: Built, env: Mapping[str, str]) -> set[Path]:
    """Folders that are shared: a file is so with its neighbours, since a database has more than one."""
    places = {*_TEMPORARY, _IN_MEMORY}
    words = (*built.argv, *map(str, built.artifacts), *env.values())
    named = {Path(os.path.normpath(path)) for word in words for path in _NAMED.findall(unquote(word))} - places
    folders = {path if path.is_dir() else path.parent for path in named}
    return {built.work, *(folder for folder in folders if not places.isdisjoint((folder, *folder.parents)))}


@contextmanager
def _layers(places: Iterable[Path]) -> Iterator[dict[Path, Path]]:
    found: dict[Path, Path] = {}
    try:
        for place in places:
            found[place] = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_beside(place)))
            for name in ("upper", "work"):
                (found[place] / name).mkdir()
            (found[place] / "upper").chmod(place.stat().st_mode)
        yield found
    finally:
        for folder in found.values():
            shutil.rmtree(folder, ignore_errors=True)


def _beside(place: Path) -> Path:
    """Where a layer of a place lies: in memory if the place does. A JVM's counters there are written all the time."""
    if any(mounted.mountpoint == str(place) and mounted.fstype == "tmpfs" for mounted in psutil.disk_partitions(True)):
        return _IN_MEMORY
    return next(folder for folder in _TEMPORARY if folder != place)


@cache
def _are_permitted() -> bool:
    """Whether touchstone may have layers here: a mount namespace, and overlayfs on two folders that are apart."""
    first, second = _TEMPORARY
    if not all(place.is_dir() and place.resolve() == place for place in (*_TEMPORARY, _IN_MEMORY)):
        return False
    try:
        with _layers((first, second)) as layered:
            places = PrivatePlaces(layered=layered, emptied=(_IN_MEMORY,))
            probe = start_child(["/bin/true"], preexec_fn=places.enter, stderr=subprocess.DEVNULL)
            return bool(probe.wait() == 0)
    except (OSError, subprocess.SubprocessError):
        return False
