"""What the engine says of a process tree that it watches: docs/engine-protocol.md. Seconds, bytes, counts."""

from __future__ import annotations

from typing import Any

from touchstone.record.base import EngineRecord


class ProcessTree(EngineRecord):
    """A process tree at one moment: bytes, and counts of its processes, threads and files."""

    rss: int | None = None
    footprint: int | None = None
    """With pages that processes of the tree share counted once; of several processes read about once per second."""
    pss: int | None = None
    anon: int | None = None
    threads: int | None = None
    processes: int | None = None

    @property
    def held(self) -> int | None:
        """The memory that counts: RSS of a single process, the footprint of a tree of several.

        The RSS of several processes counts each page that they share once for each of them.
        """
        return self.footprint if (self.processes or 0) > 1 else self.rss


class WatchPoint(ProcessTree):
    """The server's process tree at one moment of the series."""

    t: float
    phase: str = ""
    cpu_s: float | None = None
    cgroup_memory: int | None = None
    fds: int | None = None
    ended_cpu_s: float | None = None
    """CPU seconds of that process which had used most among those that have gone."""


class WatchWindow(EngineRecord):
    """What the process tree used within the measured window."""

    seconds: float | None = None
    """Between the samples that bound it."""
    cgroup_cpu_s: float | None = None
    cpu_s: float | None = None
    user_s: float | None = None
    system_s: float | None = None
    rss_peak: int | None = None
    footprint_peak: int | None = None
    fds_peak: int | None = None
    """The most open descriptors of that process which came nearest to its limit."""
    fd_limit: int | None = None
    """How many it may have open."""
    major_faults: int | None = None
    throttled_s: float | None = None
    """Kept off the CPU by the quotas of the processes' own cgroups and those above them, summed over CPUs."""
    periods: int | None = None
    """Periods of these quotas, while there was something to run."""
    throttled_periods: int | None = None
    limit_hits: int | None = None
    """How often the memory limits of the processes' own cgroups were hit."""
    oom_kills: int | None = None


class StrayThread(EngineRecord):
    """A thread that ran, or was allowed to run, on a CPU outside its tree's."""

    pid: int
    tid: int
    name: str = ""
    cpus: list[int] = []
    """Where it might run."""
    ran_on: int | None = None
    """Where it was seen to have run, if that was not one of the given CPUs."""
    first_t: float = 0.0
    last_t: float = 0.0


class WatchedPlacement(EngineRecord):
    """Whether the tree kept to its CPUs, looked at with every sample of the watch."""

    allowed: list[int] = []
    beyond: list[StrayThread] = []
    """The first 20 threads that did not, also those that have ended since."""
    beyond_cpu_s: float | None = None
    """CPU seconds on other CPUs, by the kernel's count for the tree's cgroup (version 1 only)."""


class ThrottledGroup(EngineRecord):
    """A cgroup of the tree or above it that its quota throttled during the watch."""

    cgroup: str
    periods: int = 0
    throttled_periods: int = 0
    throttled_s: float = 0.0


class WallClock(EngineRecord):
    """The wall clock against the monotonic one, from sample to sample."""

    step_s: float = 0.0
    """The largest change between two samples; negative when it was set back."""
    t: float = 0.0
    range_s: float = 0.0
    """Between the furthest ahead and the furthest behind."""


class TreeMemory(ProcessTree):
    """The same, read as deeply as can be."""

    swap: int | None = None
    vm_peak: int | None = None
    vm_hwm: int | None = None
    fds: int | None = None
    cgroup_memory: int | None = None


class Snapshot(TreeMemory):
    """The server's process tree at a moment that counts."""

    t: float | None = None
    cgroup_memory_peak: int | None = None
    cgroup_memory_limit: int | None = None
    cgroup_limit_hits: int | None = None
    oom_kills: int | None = None


class WatchCost(EngineRecord):
    """What watching itself took."""

    samples: int = 0
    deep_samples: int = 0
    """Samples that walked the page tables."""
    cpu_s: float = 0.0
    deepest_s: float = 0.0
    """The longest walk."""


class Watch(EngineRecord):
    """The server's process tree on the clock of the latencies."""

    interval_s: float = 0.1
    series: list[WatchPoint] = []
    window: WatchWindow = WatchWindow()
    at_start: Snapshot | None = None
    at_load_end: Snapshot | None = None
    at_idle_end: Snapshot | None = None
    exited: Any | None = None
    placement: WatchedPlacement | None = None
    throttled: list[ThrottledGroup] = []
    wall_clock: WallClock | None = None
    cost: WatchCost = WatchCost()
