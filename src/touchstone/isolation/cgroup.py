"""A contender's own cgroup, where that is permitted: version 2, or the memory, cpu and pids trees of version 1."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_V1_CONTROLLERS = ("memory", "cpu", "cpuacct", "pids")
_NO_LIMIT = (1 << 63) - 1
_PERIOD_US = 100_000
"""The period of container engines and of Kubernetes: what is measured here is what comes there."""
LABEL = "touchstone-"
"""How the names of the lab's groups begin."""


@dataclass
class Cgroup:
    """A group made by the lab. `paths` are its folders: one in version 2, one a controller in version 1."""

    version: int
    paths: dict[str, Path] = field(default_factory=dict)

    @property
    def folders(self) -> list[Path]:
        """The folders, each once (cpu and cpuacct may be one)."""
        return list(dict.fromkeys(self.paths.values()))

    def join(self, pid: int) -> None:
        """Put a process into the group."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def limit_memory(self, limit: int) -> None:
        """Set the memory limit in bytes, swap included where the kernel accounts for it."""
        folder = self.paths["memory"]
        if self.version == 2:
            (folder / "memory.max").write_text(str(limit))
            with contextlib.suppress(OSError):
                (folder / "memory.swap.max").write_text("0")
        else:
            (folder / "memory.limit_in_bytes").write_text(str(limit))
            with contextlib.suppress(OSError):
                (folder / "memory.memsw.limit_in_bytes").write_text(str(limit))

    def limit_cpus(self, cpus: float) -> bool:
        """Let the group have so many CPUs' time in each period of 100 ms; false if the kernel does not let us."""
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
        """How many processes of the group the kernel killed for want of memory; None if it does not say."""
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

    def memory_limit(self) -> int | None:
        """The memory limit in bytes as it is now, a huge number for none; None if the kernel does not say."""
        name = "memory.max" if self.version == 2 else "memory.limit_in_bytes"
        with contextlib.suppress(OSError, KeyError):
            text = (self.paths["memory"] / name).read_text().strip()
            return _NO_LIMIT if text == "max" else int(text)
        return None

    def cpu_s(self) -> float | None:
        """CPU seconds that all have used who are or were in the group; None if the kernel does not say."""
        with contextlib.suppress(OSError, KeyError, ValueError):
            if self.version == 2:
                fields = dict(line.split() for line in (self.paths["cpu"] / "cpu.stat").read_text().splitlines())
                return int(fields["usage_usec"]) / 1e6
            return int((self.paths["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
        return None

    def shared_memory(self) -> int | None:
        """Bytes of shared memory and files in memory charged to the group, mapped or not; None if it is not said."""
        with contextlib.suppress(OSError, KeyError, ValueError):
            fields = dict(line.split() for line in (self.paths["memory"] / "memory.stat").read_text().splitlines())
            return int(fields["total_shmem"] if "total_shmem" in fields else fields["shmem"])
        return None

    def memory_peak(self) -> int | None:
        """The most memory that the group has used, page cache included; None if the kernel does not say."""
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


def describe_cgroups() -> str:
    """Which cgroups this machine offers to us, in words."""
    if _v2_usable():
        return "version 2"
    if controllers := _v1_usable():
        return f"version 1 ({', '.join(controllers)})"
    return "not permitted"


def create_cgroup() -> Cgroup | None:
    """Make a group; None where it is not permitted. Neither version is required.

    Its members can read its name, which therefore tells nothing of what they are measured for.
    """
    label = f"{LABEL}{os.getpid()}-{secrets.token_hex(6)}"
    if _v2_usable():
        folder = _v2_home() / label
        with contextlib.suppress(OSError):
            folder.mkdir()
            return Cgroup(2, {"memory": folder, "cpu": folder, "pids": folder})
    paths: dict[str, Path] = {}
    for controller in _v1_usable():
        folder = (_ROOT / controller).resolve() / label
        with contextlib.suppress(OSError):
            folder.mkdir(exist_ok=True)
            paths[controller] = folder
    if "memory" in paths:
        return Cgroup(1, paths)
    Cgroup(1, paths).remove()
    return None


def find_cgroup(place: Path) -> Cgroup | None:
    """A group that somebody else made, by its folder or by its path below the root; None if it is not there.

    In version 1 the same path is looked for in each controller's tree: container engines name all alike.
    """
    inside = place.relative_to(_ROOT) if place.is_absolute() and place.is_relative_to(_ROOT) else place
    path = Path(str(inside).lstrip("/"))
    if path.parts and path.parts[0] in {*_V1_CONTROLLERS, "cpu,cpuacct", "unified"}:
        path = path.relative_to(path.parts[0])
    for home in (_ROOT, _ROOT / "unified"):
        if (home / path / "memory.current").is_file():
            return Cgroup(2, dict.fromkeys(("memory", "cpu", "pids"), home / path))
    paths = {name: (_ROOT / name).resolve() / path for name in _V1_CONTROLLERS}
    paths = {name: folder for name, folder in paths.items() if (folder / "cgroup.procs").is_file()}
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
    roots = [_v2_home()] if _v2_usable() else [(_ROOT / c).resolve() for c in _v1_usable()]
    return sorted(folder for root in dict.fromkeys(roots) for folder in root.glob(pattern))


def _v2_home() -> Path:
    """The version 2 folder of this process, below which groups can be made if it is delegated to us."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::"):
                own = _ROOT / line[3:].lstrip("/")
                return own if own.is_dir() else _ROOT
    return _ROOT


def _v2_usable() -> bool:
    home = _v2_home()
    try:
        enabled = (home / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
    return "memory" in enabled and os.access(home, os.W_OK)


def _v1_usable() -> list[str]:
    return [c for c in _V1_CONTROLLERS if (_ROOT / c / "tasks").exists() and os.access(_ROOT / c, os.W_OK)]
