"""The machine around a measurement, and whether the contender stayed where it was put."""

from __future__ import annotations

from pydantic import Field

from touchstone.record.base import Record


class MachineState(Record):
    """What changed on the machine between a sample's begin and end. None where it was not read."""

    wall_s: float | None = None
    """Elapsed by the wall clock (CLOCK_REALTIME); of a build, the seconds of the cold builds."""
    monotonic_s: float | None = None
    """Elapsed by the clock that no one sets (CLOCK_MONOTONIC), read at the same two moments."""
    swap_in_pages: int | None = None
    swap_out_pages: int | None = None
    frequency_mhz_before: list[float] = []
    frequency_mhz_after: list[float] = []
    memory_limit_hits: int | None = None
    """How often the contender's cgroup ran into its limit (v2 memory.events `max`, v1 `failcnt`)."""
    oom_kills: int | None = None
    kernel: str | None = None
    other_cpu_s: float | None = None
    """CPU seconds of everything else on the machine; a load's stand in its result."""
    steal_s: float | None = None
    """CPU seconds that the hypervisor gave to others."""


class ThreadAtEnd(Record):
    """A thread found out of its bounds just before the contender was ended."""

    pid: int
    thread: int
    name: str = Field(default="", exclude_if=lambda name: not name)
    cpus: list[int] | None = None
    """The CPUs that it may run on, where they are more than the contender's."""
    nice: int | None = None
    usual: int | None = None
    """Touchstone's own nice value."""
    policy: str | None = None
    """A real-time policy."""


class StrayProcess(Record):
    """A process where it should not have been. Pid alone if it had ended before it could be looked at."""

    pid: int
    argv: list[str] | None = None
    cpu_s: float | None = None
    rss: int | None = None


class Confinement(Record):
    """What was found at the end of one contender's life. Empty where all was as it should be."""

    beyond_cpus: list[ThreadAtEnd] = []
    """Threads that may run on CPUs that the contender was not given."""
    raised: list[ThreadAtEnd] = []
    """Threads with a nice value below touchstone's, or a real-time policy."""
    strays: list[StrayProcess] = []
    """Processes that had left its session and its cgroup."""
    left_cgroup: list[StrayProcess] = []
    """Processes of its tree outside of its cgroup."""
    memory_limit: int | None = None
    """The limit in bytes as it was found, where it is above the one that was set."""
    cpu_limit: float | None = None
    """The CPUs' worth of time that its cgroup was found to have, where it is above what was set."""
    limits_gone: list[str] = []
    """Controllers whose limit was set, and found to be none at all: `memory`, `cpu`."""
    changed: dict[str, list[str]] = {}
    """By name: the value of a limit or priority when the contender was started, and another one found later."""
    halted: bool = False
    """A process of its tree was stopped by a signal, such as SIGSTOP, while it was to serve."""
    unmapped_shared: int = 0
    """Bytes of huge pages, and of shared memory that no process had mapped, at the most."""
    resident: int = 0
    """RSS of its processes at that moment."""
    kernel: int = 0
    """Most bytes that the kernel held for its cgroup, beyond the usual need of threads, files and page tables."""
    kernel_resident: int = 0
    """RSS of its processes at that moment."""


class CpuAtEnd(Record):
    """CPU of a contender's process tree before and after its stop signal, in seconds."""

    before_s: float
    """In all its life until then: its start, the checks, warm-ups and all loads."""
    ending_s: float
    """From the signal until nothing of it was left."""


class LeftInWork(Record):
    """Files that earlier starts in the same run had left next to the program."""

    removed: list[str] = []
    changed: list[str] = []
    """These cannot be put back."""
