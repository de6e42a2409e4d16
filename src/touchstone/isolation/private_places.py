"""A process with folders of its own: in place of the machine's, or a layer over these that it alone changes."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path

from touchstone.isolation.child import start_child

_C = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS, _CLONE_NEWIPC = 0x00020000, 0x08000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18


@dataclass(frozen=True)
class PrivatePlaces:
    """Folders that differ for one process and its descendants, in a mount namespace of their own.

    Segments of shared memory and queues (sysvipc(7), mq_overview(7)), which outlive who made them, are its own as well.
    """

    replaced: Mapping[Path, Path] = field(default_factory=dict)
    """By the folder that the process sees: the one that it gets instead. Both exist."""
    kept: tuple[Path, ...] = ()
    """What stays as it is, and is shared, although it lies below another of these folders."""
    layered: Mapping[Path, Path] = field(default_factory=dict)
    """By a folder that the process sees as it is: the folder that takes its changes, in `upper` (overlayfs).

    It holds the empty folders `upper` and `work`, and does not lie below the one that it is a layer of.
    """
    emptied: tuple[Path, ...] = ()
    """Folders in memory that it finds empty, and fills for itself alone (tmpfs)."""

    def enter(self) -> None:
        """Change them for the calling process, between fork and exec. Raises OSError if that is not permitted."""
        cwd = Path.cwd()
        if _C.unshare(_CLONE_NEWNS | _CLONE_NEWIPC):
            raise OSError(ctypes.get_errno(), "no mount and IPC namespaces of its own are permitted")
        _mount("none", Path("/"), _MS_REC | _MS_PRIVATE)
        # Only what is opened within the namespace can be mounted in it, and what is mounted hides what lay there.
        instead = {place: _open(other) for place, other in self.replaced.items()}
        layers = {place: (_open(place), _open(other)) for place, other in self.layered.items()}
        kept = {path: _open(path) for path in self.kept if self._is_hidden(path) and path.exists()}
        for place in sorted(instead):
            place.mkdir(parents=True, exist_ok=True)
            _mount(_of(instead[place]), place, _MS_BIND)
        for place, (lower, layer) in sorted(layers.items()):
            options = f"lowerdir={_of(lower)},upperdir={_of(layer)}/upper,workdir={_of(layer)}/work"
            _mount("overlay", place, 0, "overlay", options)
        for place in self.emptied:
            _mount("tmpfs", place, 0, "tmpfs", "mode=1777")
        for path in sorted(kept):
            _make_like(path, kept[path])
            _mount(_of(kept[path]), path, _MS_BIND | _MS_REC)
        for descriptor in (*instead.values(), *chain(*layers.values()), *kept.values()):
            os.close(descriptor)
        os.chdir(cwd)

    def _is_hidden(self, path: Path) -> bool:
        return any(place in path.parents for place in (*self.replaced, *self.layered, *self.emptied))


def outermost(places: Iterable[Path], path: Path) -> Path | None:
    """The folder or file directly below one of the places that `path` belongs to. None if it is below none."""
    for place in places:
        if place in path.parents:
            return place / path.relative_to(place).parts[0]
    return None


@cache
def are_permitted() -> bool:
    """Whether touchstone may have private places here."""
    try:
        probe = start_child(["/bin/true"], preexec_fn=PrivatePlaces().enter, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return False
    return bool(probe.wait() == 0)


def _open(path: Path) -> int:
    return os.open(path, os.O_PATH)


def _of(descriptor: int) -> str:
    """The path of what was opened, whatever is mounted over it by now."""
    return f"/proc/self/fd/{descriptor}"


def _mount(source: str, target: Path, flags: int, kind: str | None = None, options: str | None = None) -> None:
    words = [None if word is None else word.encode() for word in (kind, options)]
    if _C.mount(source.encode(), os.fsencode(target), words[0], flags, words[1]):
        raise OSError(ctypes.get_errno(), f"{target} cannot be replaced")


def _make_like(path: Path, descriptor: int) -> None:
    """Something to mount onto: a folder for a folder, a file for a file."""
    if Path(f"/proc/self/fd/{descriptor}").is_dir():
        path.mkdir(parents=True, exist_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
