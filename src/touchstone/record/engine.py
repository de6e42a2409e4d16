"""What the engine says, as types: docs/engine-protocol.md is the reference. Seconds, bytes, counts."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from touchstone.record.base import Record


class EngineRecord(Record):
    """A part of a result. The engine writes null for what it did not measure; here that is the part's empty default."""

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data


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
    connect_failed: int = 0

    @property
    def total(self) -> int:
        """All errors that cost a request; a connection closed while idle cost none."""
        return sum(n for name, n in self if name != "closed_idle")


class Counts(EngineRecord):
    """Requests of the measured window."""

    sent: int = 0
    completed: int = 0
    ok: int = 0
    unanswered: int = 0
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
    """Requests a second: what was asked (open loop), and what was answered rightly."""

    offered: float | None = None
    achieved: float = 0.0


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


class Thread(EngineRecord):
    """One thread of the engine."""

    cpu: int | None = None
    user_s: float = 0.0
    system_s: float = 0.0
    busy: float = 0.0
    delayed_s: float | None = None
    """How long it was ready to run and waited for a CPU."""


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
    stands: bool = True
    reasons: list[str] = []


class FirstError(EngineRecord):
    """The first error of a class, kept as evidence."""

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


class WatchPoint(EngineRecord):
    """The server's process tree at one moment."""

    t: float
    phase: str = ""
    cpu_s: float | None = None
    rss: int | None = None
    pss: int | None = None
    anon: int | None = None
    cgroup_memory: int | None = None
    threads: int | None = None
    fds: int | None = None
    processes: int | None = None
    ended_cpu_s: float | None = None
    """CPU seconds of that process which had used most among those that have gone."""


class WatchWindow(EngineRecord):
    """What the process tree used within the measured window."""

    cpu_s: float | None = None
    user_s: float | None = None
    system_s: float | None = None
    rss_peak: int | None = None
    major_faults: int | None = None
    throttled_s: float | None = None


class Watch(EngineRecord):
    """The server's process tree on the clock of the latencies."""

    interval_s: float = 0.1
    series: list[WatchPoint] = []
    window: WatchWindow = WatchWindow()
    at_start: WatchPoint | None = None
    at_load_end: WatchPoint | None = None
    at_idle_end: WatchPoint | None = None
    exited: Any | None = None


class Machine(EngineRecord):
    """What else used the machine within the measured window, in CPU seconds."""

    steal_s: float | None = None
    other_cpu_s: float | None = None


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
    git: str | None = None
    backend: str = ""


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
    bytes: ByteCounts = ByteCounts()
    rate: Rate = Rate()
    latency: Distribution = Distribution()
    service: Distribution = Distribution()
    connect: Distribution = Distribution()
    lateness: Distribution = Distribution()
    queue: QueueResult = QueueResult()
    connections: Connections = Connections()
    generator: Generator = Generator()
    first_errors: list[FirstError] = []
    series: list[Point] = []
    steps: list[LoadStep] = []
    watch: Watch | None = None
    machine: Machine = Machine()


class BootRun(EngineRecord):
    """One start: from exec to the first valid response."""

    first_response_s: float | None = None
    port_open_s: float | None = None
    rss: int | None = None
    pss: int | None = None
    anon: int | None = None
    vm_peak: int | None = None
    threads: int | None = None
    cpu_s: float | None = None
    answered_by_ours: bool | None = None
    stopped: str | None = None
    exit_code: int | None = None
    failure: str | None = None
    evidence: str | None = None
    cold_cache: bool = False
    warm_reason: str | None = None
    """Why the page cache could not be dropped, if that was asked for."""


class BootResult(EngineRecord):
    """The whole result of `touchstone-engine boot`."""

    schema_: str = Field(default="touchstone.boot/1", alias="schema")
    job: dict[str, Any] = {}
    runs: list[BootRun] = []
