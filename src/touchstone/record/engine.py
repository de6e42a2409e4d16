"""What the engine says, as types: docs/engine-protocol.md is the reference. Seconds, bytes, counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from touchstone.record.base import EngineRecord
from touchstone.record.generator import Generator, GeneratorUse


class Distribution(EngineRecord):
    """A latency distribution in seconds; its full histogram is base64 HdrHistogram V2 in units of `unit_s`."""

    count: int = 0
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    stdev: float | None = None
    p50: float | None = None
    p75: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    p99_99: float | None = None
    curve: list[tuple[float, float]] = []
    histogram: str | None = None
    unit_s: float = 1e-9


class Errors(EngineRecord):
    """Errors by class, counted exactly."""

    refused: int = 0
    reset: int = 0
    closed_mid_response: int = 0
    closed_before_response: int = 0
    closed_idle: int = 0
    timeout: int = 0
    malformed: int = 0
    wrong_status: int = 0
    wrong_body: int = 0
    wrong_header: int = 0
    connect_failed: int = 0

    @property
    def total(self) -> int:
        """All errors that cost per request; a connection closed while idle cost none."""
        return sum(n for name, n in self if name != "closed_idle")


class Counts(EngineRecord):
    """Requests of the measured window."""

    sent: int = 0
    completed: int = 0
    ok: int = 0
    unanswered: int = 0
    unsent: int | None = None
    """Due within the window, and never sent."""
    outstanding_at_start: int = 0
    """Requests of the warm-up that had no response when the window began."""
    errors: Errors = Errors()
    status: dict[str, int] = {}


class Totals(EngineRecord):
    """Requests of the whole job, warm-up and drain included: what a proof of work is held against."""

    sent: int = 0
    completed: int = 0
    ok: int = 0


class Window(EngineRecord):
    """When the load ran."""

    start_unix_s: float = 0.0
    warmup_s: float = 0.0
    measured_s: float = 0.0
    drain_s: float = 0.0


class Rate(EngineRecord):
    """Requests a second: what was asked (open loop), and what was answered correctly."""

    offered: float | None = None
    achieved: float = 0.0


class Silence(EngineRecord):
    """Where no response came at all, in gaps of 50 ms and more."""

    seconds: float = 0.0
    longest_s: float = 0.0


class ByteCounts(EngineRecord):
    """Bytes on the wire and in bodies."""

    sent: int = 0
    received: int = 0
    body: int = 0


class Connections(EngineRecord):
    """Connections of the load."""

    asked: int = 0
    established: int = 0
    held: int = 0
    opened: int = 0
    reconnects: int = 0


class FirstError(EngineRecord):
    """One of the first errors of its class, kept as evidence."""

    class_: str = Field(alias="class")
    t: float = 0.0
    request: str = ""
    sent: str = ""
    received: str = ""
    why: str = ""


class Point(EngineRecord):
    """One interval of the load's series; `t` is its end."""

    t: float
    phase: str = "load"
    sent: int = 0
    ok: int = 0
    errors: int = 0
    p50: float | None = None
    p99: float | None = None
    max: float | None = None
    connections: int = 0
    queue: int = 0


class LoadStep(EngineRecord):
    """One rate of a stepped load."""

    rate: float
    seconds: float
    achieved: float
    sent: int = 0
    ok: int = 0
    errors: int = 0
    latency: Distribution = Distribution()


def held(rss: int | None, footprint: int | None, processes: int | None) -> int | None:
    """The memory of a process tree in bytes; None where it was not read.

    The RSS of several processes counts each page that they share once for each of them; their footprint counts it once.
    """
    return footprint if (processes or 0) > 1 else rss


class WatchPoint(EngineRecord):
    """The server's process tree at one moment."""

    t: float
    phase: str = ""
    cpu_s: float | None = None
    rss: int | None = None
    footprint: int | None = None
    """With pages that processes of the tree share counted once; of several processes read about once per second."""
    pss: int | None = None
    anon: int | None = None
    cgroup_memory: int | None = None
    threads: int | None = None
    fds: int | None = None
    processes: int | None = None
    ended_cpu_s: float | None = None
    """CPU seconds of that process which had used most among those that have gone."""

    @property
    def held(self) -> int | None:
        """The memory that counts: RSS of a single process, the footprint of a tree of several."""
        return held(self.rss, self.footprint, self.processes)


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
    """A thread that could run, or was seen to run, on a CPU that its tree was not given."""

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
    """A cgroup of the tree's processes, or above them, whose quota cut periods short while it was watched."""

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


class Snapshot(EngineRecord):
    """What the server's process tree held at one moment that counts, read as deeply as can be."""

    t: float | None = None
    rss: int | None = None
    footprint: int | None = None
    """With pages that processes of the tree share counted once."""
    pss: int | None = None
    anon: int | None = None
    swap: int | None = None
    vm_peak: int | None = None
    vm_hwm: int | None = None
    threads: int | None = None
    fds: int | None = None
    processes: int | None = None
    cgroup_memory: int | None = None
    cgroup_memory_peak: int | None = None
    cgroup_memory_limit: int | None = None
    cgroup_limit_hits: int | None = None
    oom_kills: int | None = None

    @property
    def held(self) -> int | None:
        """The memory that counts: RSS of a single process, the footprint of a tree of several."""
        return held(self.rss, self.footprint, self.processes)


class WatchCost(EngineRecord):
    """What watching itself took."""

    samples: int = 0
    deep_samples: int = 0
    """Those that walked the page tables."""
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


class Machine(EngineRecord):
    """What else used the machine within the measured window, in CPU seconds."""

    steal_s: float | None = None
    other_cpu_s: float | None = None
    swapped_pages: int | None = None
    """In and out, of the whole machine."""


class RequestResult(EngineRecord):
    """One request of the mix."""

    name: str
    sent: int = 0
    ok: int = 0
    errors: int = 0
    latency: Distribution = Distribution()


class QueueResult(EngineRecord):
    """Requests that waited for a free connection."""

    peak: int = 0
    mean: float = 0.0


class EngineIdentity(EngineRecord):
    """Which engine measured."""

    version: str = ""
    backend: str = ""
    processes: int = 1
    """Processes that the load was divided among."""


class JourneyResult(EngineRecord):
    """Passes through one journey that ended in the window; how long those took that went through, pauses included."""

    name: str
    completed: int = 0
    failed: int = 0
    duration: Distribution = Distribution()


class LoadResult(EngineRecord):
    """The whole result of `touchstone-engine load`."""

    schema_: str = Field(default="touchstone.load/1", alias="schema")
    engine: EngineIdentity = EngineIdentity()
    job: dict[str, Any] = {}
    interrupted: bool = False
    window: Window = Window()
    counts: Counts = Counts()
    totals: Totals = Totals()
    requests: list[RequestResult] = []
    journeys: list[JourneyResult] = []
    bytes: ByteCounts = ByteCounts()
    rate: Rate = Rate()
    silence: Silence | None = None
    """None in records of engines that did not listen for it."""
    latency: Distribution = Distribution()
    service: Distribution = Distribution()
    connect: Distribution = Distribution()
    lateness: Distribution = Distribution()
    queue: QueueResult | None = None
    """None in a closed loop, which has none."""
    connections: Connections = Connections()
    generator: Generator = Generator()
    generators: list[GeneratorUse] = Field(default=[], exclude_if=lambda parts: not parts)
    """Each generator's part, if the load came from other machines."""
    joining_cpu_s: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """CPU seconds that what joins the machines used on the server's, over the whole job; set by the lab."""
    first_errors: list[FirstError] = []
    series: list[Point] = []
    steps: list[LoadStep] = []
    watch: Watch | None = None
    machine: Machine = Machine()


START_FIGURES: Mapping[str, str] = {
    "boot_first_response": "first_response_s",
    "boot_runtime": "program_s",
    "boot_port_open": "port_open_s",
    "boot_cpu": "cpu_s",
    "boot_rss": "held",
    "boot_pss": "pss",
    "boot_anon": "anon",
}
"""The figures of starts, by the field of a `BootRun` that holds them."""


class BootRun(EngineRecord):
    """One start: from exec to the first valid response."""

    first_response_s: float | None = None
    program_s: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """Of it, what passed until a container's program was executed: the runtime's share."""
    port_open_s: float | None = None
    rss: int | None = None
    footprint: int | None = None
    """With pages that processes of the tree share counted once."""
    pss: int | None = None
    anon: int | None = None
    vm_peak: int | None = None
    vm_hwm: int | None = None
    major_faults: int | None = None
    """That needed I/O up to then."""
    threads: int | None = None
    processes: int | None = None
    cpu_s: float | None = None
    polls: int | None = None
    """Connections tried."""
    wrong_responses: int | None = None
    """Before the first correct one."""
    port_closed_s: float | None = None
    """When a connection was refused for the last time."""
    settled: Snapshot | None = None
    """After `settle_s`, where that was asked for."""
    answered_by_ours: bool | None = None
    stopped: str | None = None
    stop_s: float | None = None
    """From the first signal until nothing was left."""
    exit_code: int | None = None
    exit_signal: int | None = None
    failure: str | None = None
    evidence: str | None = None
    log_tail: str | None = None
    """The end of the server's log, after a failure."""
    cold_cache: bool = False
    warm_reason: str | None = None
    """Why the page cache could not be dropped, if that was asked for."""

    @property
    def held(self) -> int | None:
        """The memory that counts: RSS of a single process, the footprint of a tree of several."""
        return held(self.rss, self.footprint, self.processes)


class BootResult(EngineRecord):
    """The whole result of `touchstone-engine boot`."""

    schema_: str = Field(default="touchstone.boot/1", alias="schema")
    job: dict[str, Any] = {}
    interrupted: bool = False
    runs: list[BootRun] = []
