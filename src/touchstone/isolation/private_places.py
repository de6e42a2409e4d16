"""A process that finds empty folders where the machine's own would be: what others left there, it cannot use."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from touchstone.isolation.child import start_child

_C = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS = 0x00020000
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18


@dataclass(frozen=True)
class PrivatePlaces:
    """Folders that are replaced by others for one process and its descendants, in a mount namespace of their own."""

    replaced: Mapping[Path, Path]
    """By the folder that the process sees: the one that it gets instead. Both exist."""
    kept: tuple[Path, ...] = ()
    """What stays as it is although it lies below one that is replaced."""

    def enter(self) -> None:
        """Replace them for the calling process, between fork and exec. Raises OSError if that is not permitted."""
        cwd = Path.cwd()
        if _C.unshare(_CLONE_NEWNS):
            raise OSError(ctypes.get_errno(), "no mount namespace of its own is permitted")
        _mount("none", Path("/"), _MS_REC | _MS_PRIVATE)
        # Only what is opened within the namespace can be mounted in it.
        instead = {place: os.open(other, os.O_PATH) for place, other in self.replaced.items()}
        kept = {path: os.open(path, os.O_PATH) for path in self.kept if self._is_hidden(path) and path.exists()}
        for place in sorted(instead):
            place.mkdir(parents=True, exist_ok=True)
            _mount(f"/proc/self/fd/{instead[place]}", place, _MS_BIND)
        for path in sorted(kept):
            _make_like(path, kept[path])
            _mount(f"/proc/self/fd/{kept[path]}", path, _MS_BIND | _MS_REC)
        for descriptor in (*instead.values(), *kept.values()):
            os.close(descriptor)
        os.chdir(cwd)

    def _is_hidden(self, path: Path) -> bool:
        return any(place in path.parents for place in self.replaced)


def outermost(places: Iterable[Path], path: Path) -> Path | None:
    """The folder or file directly below one of the places that `path` belongs to; None if it is below none."""
    for place in places:
        if place in path.parents:
            return place / path.relative_to(place).parts[0]
    return None


@cache
def are_permitted() -> bool:
    """Whether the lab may have private places here."""
    try:
        probe = start_child(["/bin/true"], preexec_fn=PrivatePlaces({}).enter, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return False
    return bool(probe.wait() == 0)


def _mount(source: str, target: Path, flags: int) -> None:
    if _C.mount(source.encode(), os.fsencode(target), None, flags, None):
        raise OSError(ctypes.get_errno(), f"{target} cannot be replaced")


def _make_like(path: Path, descriptor: int) -> None:
    """Something to mount onto: a folder for a folder, a file for a file."""
    if Path(f"/proc/self/fd/{descriptor}").is_dir():
        path.mkdir(parents=True, exist_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
