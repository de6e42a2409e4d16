"""What the engine says of those who put a load on: itself, and generators on other machines."""

from __future__ import annotations

from pydantic import Field

from touchstone.record.base import EngineRecord


class Thread(EngineRecord):
    """One thread of the engine."""

    cpu: int | None = None
    user_s: float = 0.0
    system_s: float = 0.0
    busy: float = 0.0
    delayed_s: float | None = None
    """How long it was ready to run and waited for a CPU."""
    blocked_s: float | None = None
    """How long it waited for I/O."""
    throttled_s: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """For how long CPU quotas kept its machine's engine off the CPU, summed over CPUs; None without a quota."""
    generator: str | None = Field(default=None, exclude_if=lambda name: name is None)
    """The machine that it ran on, if that was another one."""


class Clock(EngineRecord):
    """The clock that latencies are read from, and what a reading costs."""

    source: str = ""
    cost_ns: float | None = None


class Generator(EngineRecord):
    """The engine's account of itself."""

    threads: list[Thread] = []
    cpu_s: float = 0.0
    rss_peak: int | None = None
    syscalls: int | None = None
    clock: Clock = Clock()
    quotas: list[str] = Field(default=[], exclude_if=lambda groups: not groups)
    """The cgroups of the engine, and above them, that have a CPU quota."""
    stands: bool = True
    reasons: list[str] = []

    @property
    def throttled_s(self) -> float:
        """Seconds that CPU quotas held it, summed over CPUs. The longest over several machines."""
        return max((thread.throttled_s or 0.0 for thread in self.threads), default=0.0)


class GeneratorUse(EngineRecord):
    """What one of several machines did of a load."""

    name: str
    processes: int = 1
    connections: int = 0
    began_s: float = 0.0
    """How long after the common start its last thread began; in slices the mean over those that count."""
    clock_ahead_s: float = 0.0
    """How far its clock was ahead of the coordinator's, by the fastest of many round trips."""
    clock_residual_s: float = 0.0
    """How far off that may be: half of that round trip."""
    sent: int = 0
    ok: int = 0
    errors: int = 0
    cpu_s: float = 0.0
    busiest: float = 0.0
    """The share of the window that its busiest thread worked."""
