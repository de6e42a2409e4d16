"""A contender's own cgroup, where that is permitted: version 2, or the memory, cpu and pids trees of version 1."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.isolation.delegation import V1_CONTROLLERS, Refusal, find_home
from touchstone.isolation.hierarchies import hierarchies
from touchstone.isolation.limits import cpu_limit_of, memory_limit_of

_PERIOD_US = 100_000
"""The period of container engines and of Kubernetes: what is measured here is what comes there."""
_CONTROLS = (
    *("cpu.weight", "cpu.idle", "cpu.max", "cpu.max.burst", "cpuset.cpus", "cpuset.mems", "pids.max", "io.weight"),
    *("memory.min", "memory.low", "memory.high", "memory.max", "memory.swap.max"),
    *("cpu.shares", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.rt_runtime_us", "blkio.weight"),
    *("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.soft_limit_in_bytes", "memory.swappiness"),
)
"""Files of both versions. Only touchstone, or a container engine at a container's start, has a reason to write them."""
LABEL = "touchstone-"
"""How the names of touchstone's groups begin."""


@dataclass
class Cgroup:
    """A group made by touchstone. `paths` are its folders: one in version 2, one a controller in version 1."""

    version: int
    paths: dict[str, Path] = field(default_factory=dict)
    """By controller, of those that the group can be limited or counted by."""
    given: dict[str, str] = field(default_factory=dict)
    """Its control files before the first process came into it."""

    @property
    def folders(self) -> list[Path]:
        """The folders, each once (cpu and cpuacct may be one)."""
        return list(dict.fromkeys(self.paths.values()))

    def join(self, pid: int) -> None:
        """Put a process into the group."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def limit_memory(self, limit: int) -> bool:
        """Set the memory limit in bytes, swap included where the kernel counts it. False if the kernel refuses."""
        names = ("memory.max", "memory.swap.max", "0")
        if self.version == 1:
            names = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", str(limit))
        with contextlib.suppress(OSError, KeyError):
            folder = self.paths["memory"]
            (folder / names[0]).write_text(str(limit))
            with contextlib.suppress(OSError):
                (folder / names[1]).write_text(names[2])
            return True
        return False

    def limit_cpus(self, cpus: float) -> bool:
        """Let the group have this many CPUs' time in each period of 100 ms. False if the kernel refuses."""
        quota = max(1_000, round(cpus * _PERIOD_US))
        with contextlib.suppress(OSError, KeyError):
            if self.version == 2:
                (self.paths["cpu"] / "cpu.max").write_text(f"{quota} {_PERIOD_US}")
            else:
                (self.paths["cpu"] / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
                (self.paths["cpu"] / "cpu.cfs_quota_us").write_text(str(quota))
            return True
        return False

    def oom_kills(self) -> int | None:
        """How many processes of the group the kernel killed for want of memory. None if it does not say."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        with contextlib.suppress(OSError, KeyError, ValueError):
            fields = dict(line.split() for line in (self.paths["memory"] / name).read_text().splitlines())
            return int(fields["oom_kill"])
        return None

    def limit_hits(self) -> int | None:
        """How often the group ran into its memory limit; None if the kernel does not say."""
        with contextlib.suppress(OSError, KeyError, ValueError):
            if self.version == 2:
                lines = (self.paths["memory"] / "memory.events").read_text().splitlines()
                return int(dict(line.split() for line in lines)["max"])
            return int((self.paths["memory"] / "memory.failcnt").read_text())
        return None

    def memory_limit(self) -> float | None:
        """The memory limit in bytes as it is now; None for none."""
        return memory_limit_of(self.paths["memory"]) if "memory" in self.paths else None

    def cpu_limit(self) -> float | None:
        """How many CPUs' time the group may have as it is now; None for no limit."""
        return cpu_limit_of(self.paths["cpu"]) if "cpu" in self.paths else None

    def controls(self, known: Collection[str] = _CONTROLS) -> dict[str, str]:
        """The group's control files with their values now, by name. Only those of `known`."""
        found = {}
        for folder in self.folders:
            for name in known:
                with contextlib.suppress(OSError):
                    found[name] = (folder / name).read_text().strip()
        return found

    def exists(self) -> bool:
        """Whether it is there still: that of a container goes with it."""
        return all(folder.is_dir() for folder in self.folders)

    def cpu_s(self) -> float | None:
        """CPU seconds of all processes that are or were in the group. None if the kernel does not say."""
        with contextlib.suppress(OSError, LookupError, ValueError):
            if self.version == 2:
                # Every group has this file, whichever controllers are switched on.
                fields = dict(line.split() for line in (self.folders[0] / "cpu.stat").read_text().splitlines())
                return int(fields["usage_usec"]) / 1e6
            return int((self.paths["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
        return None

    def memory_stat(self) -> dict[str, int]:
        """The lines of memory.stat by name, in bytes; empty if the kernel does not say."""
        with contextlib.suppress(OSError, KeyError, ValueError):
            lines = (self.paths["memory"] / "memory.stat").read_text().splitlines()
            return {name: int(value) for name, value in (line.split() for line in lines)}
        return {}

    def shared_memory(self, stat: Mapping[str, int]) -> int | None:
        """Bytes of shared memory and files in memory charged to the group, mapped or not. None if it is not said.

        `stat` is its `memory_stat`.
        """
        return stat.get("total_shmem", stat.get("shmem"))

    def kernel_memory(self, stat: Mapping[str, int]) -> int | None:
        """Bytes that the kernel holds for the group: pipes, sockets, page tables, stacks; None if it is not said.

        What the kernel gives back when memory is short (version 2: `slab_reclaimable`) is left out, as page cache is.
        `stat` is its `memory_stat`.
        """
        with contextlib.suppress(OSError, KeyError, ValueError):
            folder = self.paths["memory"]
            if self.version == 1:
                names = ("memory.kmem.usage_in_bytes", "memory.kmem.tcp.usage_in_bytes")
                return sum(int((folder / name).read_text()) for name in names)
            return stat["kernel"] + stat["sock"] - stat["slab_reclaimable"]
        return None

    def memory_peak(self) -> int | None:
        """The most memory that the group has used, page cache included. None if the kernel does not say."""
        name = "memory.peak" if self.version == 2 else "memory.max_usage_in_bytes"
        with contextlib.suppress(OSError, KeyError, ValueError):
            return int((self.paths["memory"] / name).read_text())
        return None

    def pids(self) -> list[int]:
        """The processes that are in the group now."""
        found: set[int] = set()
        for folder in self.folders:
            with contextlib.suppress(OSError):
                found |= {int(line) for line in (folder / "cgroup.procs").read_text().split()}
        return sorted(found)

    def remove(self) -> None:
        """Remove the folders. The processes must have ended; the kernel may need a moment to see it."""
        for folder in self.folders:
            for _ in range(50):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.02)
                else:
                    break


def create_cgroup() -> Cgroup | None:
    """Make a group; None where it is not permitted. Neither version is required.

    Its members can read its name, which therefore tells nothing of what they are measured for.
    """
    home = find_home()
    if isinstance(home, Refusal):
        return None
    label = f"{LABEL}{os.getpid()}-{secrets.token_hex(6)}"
    paths: dict[str, Path] = {}
    for controller, folder in home.folders.items():
        with contextlib.suppress(OSError):
            (folder / label).mkdir(exist_ok=True)
            paths[controller] = folder / label
    group = Cgroup(home.version, paths)
    if paths.keys() == home.folders.keys() or "memory" in paths:
        return group
    group.remove()
    return None


def find_cgroup(place: Path) -> Cgroup | None:
    """A group that somebody else made, by its folder or by its path below the root. None if it is not there.

    In version 1 the same path is looked for in each controller's tree: container engines name all alike.
    """
    trees = hierarchies()
    folder = place.resolve() if place.is_absolute() else place
    mounts = sorted((tree.mounted_at.resolve() for tree in trees), key=lambda mount: len(mount.parts), reverse=True)
    mount = next((mount for mount in mounts if folder.is_relative_to(mount)), None)
    path = str(folder.relative_to(mount) if mount else place).lstrip("/")
    paths: dict[str, Path] = {}
    for tree in trees:
        if tree.version == 2 and (tree.mounted_at / path / "memory.current").is_file():
            return Cgroup(2, dict.fromkeys(("memory", "cpu", "pids"), tree.mounted_at / path))
        if tree.version == 1 and (tree.mounted_at / path / "cgroup.procs").is_file():
            paths |= dict.fromkeys(tree.controllers & {*V1_CONTROLLERS}, tree.mounted_at / path)
    return Cgroup(1, paths) if "memory" in paths else None


def leftover_cgroups() -> list[Path]:
    """Groups of earlier runs whose lab no longer lives."""
    found = []
    for folder in _made_by_a_lab():
        pid = folder.name.split("-")[1]
        if pid.isdigit() and not Path("/proc", pid).exists():
            found.append(folder)
    return found


def clear_own_cgroups() -> None:
    """Remove what this process has made and not removed, with the processes in it.

    An interruption can come at any point, also while a group is being made or removed.
    """
    for folder in _made_by_a_lab(f"{LABEL}{os.getpid()}-*"):
        group = Cgroup(2, {"pids": folder})
        for pid in group.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        group.remove()


def _made_by_a_lab(pattern: str = f"{LABEL}*-*") -> list[Path]:
    home = find_home()
    roots = [] if isinstance(home, Refusal) else home.folders.values()
    return sorted(folder for root in dict.fromkeys(roots) for folder in root.glob(pattern))
