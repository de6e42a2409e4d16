"""Where touchstone may make cgroups: below a group that is its own, or in the trees of version 1.

In version 2 a group that holds processes cannot limit groups below it (cgroups(7), "No internal processes"). So
touchstone moves itself into a group below its own, the leaf; those of contenders are made next to the leaf.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import math
import os
import shlex
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from touchstone.isolation.family import family
from touchstone.isolation.hierarchies import Hierarchy, hierarchies, version_2
from touchstone.isolation.limits import GroupLimit, OwnLimits, own_limits
from touchstone.isolation.scope import ScopeError, ask_for_scope, systemd_runs

LEAF = "touchstone-lab"
"""The group of touchstone's own processes."""
CONTROLLERS = ("memory", "cpu", "pids", "io", "cpuset")
V1_CONTROLLERS = ("memory", "cpu", "cpuacct", "pids")
_LIMITING = frozenset({"memory", "cpu"})
_WRITABLE = (
    "run as root; in a container let it be writable: `--privileged`, or with docker "
    "`--security-opt writable-cgroups=true`, with podman `--security-opt unmask=/sys/fs/cgroup`"
)
_MOVED_WITHIN_S = 10.0
_LOCK = threading.RLock()


@dataclass(frozen=True)
class CgroupHome:
    """The folders below which touchstone makes groups, by controller: one in version 2."""

    version: int
    folders: Mapping[str, Path]
    where: str = ""
    """How touchstone came by it, in words."""
    left: OwnLimits = field(default_factory=OwnLimits)
    """The limits of the group that touchstone left for it, which it took along."""

    def __str__(self) -> str:
        return f"version {self.version} ({', '.join(self.folders)}){self.where}"


@dataclass(frozen=True)
class Refusal:
    """Why there can be no groups, and what helps."""

    why: str
    fix: str

    def __str__(self) -> str:
        return f"not permitted: {self.why}"


class _NotOursError(Exception):
    """Touchstone can get no group of its own: `Refusal` as an error."""

    def __init__(self, why: str, fix: str) -> None:
        self.refusal = Refusal(why, fix)
        super().__init__(why)


@cache
def _found() -> CgroupHome | Refusal:
    return _look_for_home()


def find_home() -> CgroupHome | Refusal:
    """Touchstone's home.

    The first call may move touchstone into a group of its own; at its end touchstone moves back.
    """
    with _LOCK:
        return _found()


def lacking(*controllers: str) -> Refusal | None:
    """Why groups cannot be limited by these controllers; None if they can."""
    home = find_home()
    if isinstance(home, Refusal):
        return home
    missing = next((name for name in controllers if name not in home.folders), None)
    if missing is None:
        return None
    folder = next(iter(home.folders.values()))
    return Refusal(f"{folder} was not given the controller {missing}", _delegate())


def lab_limits() -> OwnLimits:
    """Touchstone's own limits, named by the group that had them before touchstone moved."""
    home, now = find_home(), own_limits()
    left = home.left if isinstance(home, CgroupHome) else OwnLimits()
    return OwnLimits(_origin(now.cpus, left.cpus), _origin(now.memory, left.memory), _origin(now.tasks, left.tasks))


def _origin(now: GroupLimit | None, before: GroupLimit | None) -> GroupLimit | None:
    return before if now is not None and before is not None and math.isclose(now.most, before.most) else now


def _look_for_home() -> CgroupHome | Refusal:
    tree = version_2()
    try:
        if tree is not None and tree.controllers & _LIMITING:
            return _home_in_version_2(tree)
        return _home_in_version_1()
    except _NotOursError as error:
        return error.refusal
    except OSError as error:
        return Refusal(f"{error.filename}: {error.strerror}", "see what manages the cgroups of this machine")


def _home_in_version_1() -> CgroupHome:
    folders = {
        name: tree.mounted_at.resolve()
        for name in V1_CONTROLLERS
        for tree in hierarchies()
        if tree.version == 1 and name in tree.controllers and os.access(tree.mounted_at, os.W_OK)
    }
    if "memory" not in folders:
        raise _NotOursError("the tree of cgroups is not mounted, or not writable", "run as root")
    return CgroupHome(1, folders)


def _home_in_version_2(tree: Hierarchy) -> CgroupHome:
    groups = _own_groups(tree)
    if groups[0].name == LEAF and len(groups) > 1:
        return _settle(groups[1], " of touchstone that started this one")
    unit = next((group for group in groups if group.suffix in (".service", ".scope")), None)
    ours = _is_delegated(unit) if unit is not None else not _is_top(groups[0])
    if not systemd_runs() or (ours and _is_writable(groups[0])):
        return _settle(groups[0], f" in {groups[0]}")
    left = own_limits()
    _enter_scope(left)
    return replace(_settle(_own_groups(tree)[0], " in a scope of systemd's"), left=left)


def _own_groups(tree: Hierarchy) -> list[Path]:
    groups = tree.groups_of()
    if not groups or not groups[0].is_dir():
        raise _NotOursError(
            f"the cgroup of this process cannot be reached at {tree.mounted_at}",
            "mount cgroup2 there from within this cgroup namespace",
        )
    return groups


def _is_delegated(unit: Path) -> bool:
    """Whether systemd leaves what is below a unit of the system alone. Units of users' managers do not say."""
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            return os.getxattr(unit, name) == b"1"
    return False


def _is_top(group: Path) -> bool:
    """Whether it is the root cgroup, which may hold processes next to limited groups."""
    return not (group / "cgroup.type").exists()


def _enter_scope(limits: OwnLimits) -> None:
    """Move touchstone and its children into a scope of its own, with these limits. Raises _NotOursError."""
    name = f"touchstone-{os.getpid()}.scope"
    cpus = os.sched_getaffinity(0)
    try:
        ask_for_scope(name, [process.pid for process in family(os.getpid())], limits)
        _wait_until_in(name)
    except ScopeError as error:
        raise _NotOursError(str(error), _systemd_run()) from error
    if os.sched_getaffinity(0) != cpus:
        # The kernel gives a process that leaves a cpuset all CPUs of the next one.
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, cpus)


def _wait_until_in(scope: str) -> None:
    deadline = time.monotonic() + _MOVED_WITHIN_S
    while scope not in Path("/proc/self/cgroup").read_text(encoding="utf-8"):
        if time.monotonic() > deadline:
            raise ScopeError(f"systemd has not moved touchstone into {scope} within {_MOVED_WITHIN_S:g} s")
        time.sleep(0.01)


def _systemd_run() -> str:
    """How touchstone can be started in a scope of its own."""
    command = shlex.join(["touchstone", *sys.argv[1:]])
    if os.geteuid() == 0:
        return f"start it by `systemd-run --scope -p Delegate=yes {command}`"
    return (
        f"start it by `systemd-run --user --scope -p Delegate=yes {command}`; that needs the user's service manager, "
        "which a login starts, and `loginctl enable-linger` for good"
    )


def _settle(home: Path, where: str) -> CgroupHome:
    """Make a group touchstone's home: its processes go into the leaf, and the controllers are switched on below it."""
    if not _is_writable(home):
        raise _NotOursError(f"{home} is not writable for this user", _WRITABLE)
    leaf = None if _is_top(home) else _Leaf(home)
    on = _switch_on(home)
    if not on & _LIMITING:
        offered = (home / "cgroup.controllers").read_text().split()
        if leaf is not None:
            leaf.leave()
        raise _NotOursError(*_why_none(home, offered))
    if leaf is not None:
        atexit.register(leaf.leave)
    return CgroupHome(2, {name: home for name in CONTROLLERS if name in on}, where)


def _is_writable(home: Path) -> bool:
    return all(os.access(home / name, os.W_OK) for name in ("", "cgroup.procs", "cgroup.subtree_control"))


def _why_none(home: Path, offered: list[str]) -> tuple[str, str]:
    if _LIMITING & {*offered}:
        return f"{home} still holds processes that touchstone cannot move", "end them, or run as root"
    return f"{home} was given neither of the controllers memory and cpu", _delegate()


def _delegate() -> str:
    if os.geteuid() == 0:
        return "see `cgroup_disable` on the kernel's command line, and `DisableControllers` of the units above"
    return (
        "run as root; or write `[Service]` and `Delegate=cpu memory pids` into "
        "/etc/systemd/system/user@.service.d/delegate.conf, and log in again"
    )


def _switch_on(home: Path) -> set[str]:
    """Switch on each controller that there is, one at a time: one that is refused does not keep the others off."""
    control = home / "cgroup.subtree_control"
    for name in set(CONTROLLERS) & {*(home / "cgroup.controllers").read_text().split()}:
        with contextlib.suppress(OSError):
            control.write_text(f"+{name}")
    return {*control.read_text().split()}


class _Leaf:
    """The group of touchstone and of every other process that was in its home. Labs that run at once share it."""

    def __init__(self, home: Path) -> None:
        self._home, self._folder, self._owner = home, home / LEAF, os.getpid()
        self._lock = self._locked()
        self._move(home, self._folder)

    def _locked(self) -> int:
        """The folder, open and locked; made again if a lab that ended has removed it meanwhile."""
        while True:
            self._folder.mkdir(exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
                fcntl.flock(lock, fcntl.LOCK_SH)
                if self._folder.exists() and os.path.samestat(os.fstat(lock), self._folder.stat()):
                    return lock
                os.close(lock)

    def leave(self) -> None:
        """Put everything back as it was, unless another lab is in it."""
        if os.getpid() != self._owner:
            return
        with contextlib.suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if [path for path in self._home.iterdir() if path.is_dir() and path != self._folder]:
                return
            control = self._home / "cgroup.subtree_control"
            control.write_text(" ".join(f"-{name}" for name in control.read_text().split()))
            self._move(self._folder, self._home)
            self._folder.rmdir()

    @staticmethod
    def _move(origin: Path, target: Path) -> None:
        """Move all processes; again until there are none left, since they may fork. Some may not be ours to move."""
        held: set[str] = set()
        while moving := {*(origin / "cgroup.procs").read_text().split()} - held:
            for pid in moving:
                try:
                    (target / "cgroup.procs").write_text(pid)
                except OSError as error:
                    if error.errno != errno.ESRCH or pid == "0":
                        held.add(pid)
