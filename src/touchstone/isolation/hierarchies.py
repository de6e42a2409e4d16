"""The mounted trees of cgroups, and the groups that a process is in (cgroups(7), proc_pid_mountinfo(5))."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_PROC = Path("/proc")
_DELETED = " (deleted)"


@dataclass(frozen=True)
class Hierarchy:
    """A mounted tree of cgroups: that of version 2, or one of version 1."""

    version: int
    controllers: frozenset[str]
    """What groups below the mount can be limited by."""
    root: PurePosixPath
    """The group that is mounted, as /proc/PID/cgroup writes it."""
    mounted_at: Path

    def groups_of(self, pid: int | str = "self") -> list[Path]:
        """Folders of a process's group and its ancestors, as far as they are mounted.

        Empty if the process has gone, or is in a group that cannot be reached through this mount.
        """
        for line in _lines(_PROC / str(pid) / "cgroup"):
            _, names, path = line.split(":", 2)
            if (self.version == 2) == (not names) and (not names or self.controllers & {*names.split(",")}):
                return self._below(PurePosixPath(path.removesuffix(_DELETED)))
        return []

    def _below(self, path: PurePosixPath) -> list[Path]:
        if not path.is_relative_to(self.root) or ".." in path.relative_to(self.root).parts:
            return []
        own = self.mounted_at / path.relative_to(self.root)
        return [own, *(above for above in own.parents if above.is_relative_to(self.mounted_at))]


def hierarchies() -> list[Hierarchy]:
    """The mounted trees, in the order of their mounts."""
    found = (_hierarchy(line) for line in _lines(_PROC / "self" / "mountinfo"))
    return [one for one in found if one is not None]


def hierarchy_of(controller: str) -> Hierarchy | None:
    """The tree that has a controller; None if it is mounted nowhere."""
    return next((one for one in hierarchies() if controller in one.controllers), None)


def version_2() -> Hierarchy | None:
    """The tree of version 2, with whatever controllers it has; None if it is not mounted."""
    return next((one for one in hierarchies() if one.version == 2), None)


def _lines(file: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return []


def _hierarchy(line: str) -> Hierarchy | None:
    before, _, after = line.partition(" - ")
    kind, _, options = (*after.split(" "), "", "", "")[:3]
    root, mounted_at = map(_unescaped, before.split(" ")[3:5])
    if kind == "cgroup2":
        named = _lines(Path(mounted_at) / "cgroup.controllers")
        controllers = frozenset(" ".join(named).split())
        return Hierarchy(2, controllers, PurePosixPath(root), Path(mounted_at))
    if kind == "cgroup":
        controllers = frozenset(options.split(",")) - {"rw", "ro"}
        return Hierarchy(1, controllers, PurePosixPath(root), Path(mounted_at))
    return None


def _unescaped(path: str) -> str:
    r"""A path of mountinfo, in which a space is written `\040`."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), path)
