"""The jobs that the engine reads. Made from its own types by `python -m tests.engine.protocol`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Arrivals: TypeAlias = Literal["uniform", "poisson"]
"""How arrivals lie around their rate."""


BackendChoice: TypeAlias = Literal["auto", "epoll", "io_uring"]
"""Which kernel interface moves the bytes."""


class Capture(TypedDict):
    """Where in a response a value is: one of the three, or a field and a pattern on its value."""

    header: NotRequired[str | None]
    """A field of the head."""
    json: NotRequired[str | None]
    """A JSON pointer (RFC 6901) into the body."""
    pattern: NotRequired[str | None]
    """A regular expression that is searched for; its first group is the value."""


class Dependency(TypedDict):
    """A process tree that works for the server."""

    name: str
    """What its CPU time is told under; several trees may share a name."""
    pid: int
    """The root of its process tree."""


class ExpectBodyAny(TypedDict):
    """Anything."""

    kind: Literal["any"]


class ExpectBodyExact(TypedDict):
    """These bytes; in a load job a template."""

    kind: Literal["exact"]
    value: str
    """The expected text."""


class ExpectBodyPattern(TypedDict):
    """A regular expression over the whole body."""

    kind: Literal["pattern"]
    value: str
    """The expression."""


class ExpectBodyJson(TypedDict):
    """A JSON object with these fields."""

    exact: NotRequired[bool]
    """Whether further fields are wrong."""
    fields: dict[str, Any]
    """Field to value, or to `{"type": "number"}` and the like."""
    kind: Literal["json"]


ExpectBody: TypeAlias = ExpectBodyAny | ExpectBodyExact | ExpectBodyPattern | ExpectBodyJson
"""What a response body must be."""


class GeneratorNode(TypedDict):
    """A machine that puts a part of the load on."""

    clock_ahead_s: float
    """How far its `CLOCK_MONOTONIC` is ahead of this machine's, in seconds."""
    clock_residual_s: float
    """How far off that may be, in seconds."""
    cpus: list[int]
    """Its CPUs to pin the threads to, in turn."""
    link: str
    """A Unix socket. Each connection to it reaches standard input and output of a `touchstone-engine load --worker` there."""
    name: str
    """Its name in the result and in errors."""
    open_files: int
    """Its limit of open files."""


class LoopClosed(TypedDict):
    """A connection sends its next request when the response to the last one has come."""

    kind: Literal["closed"]


class LoopOpen(TypedDict):
    """Requests are due at a constant rate whatever the server does."""

    arrivals: NotRequired[Arrivals]
    """How the arrivals lie around the rate."""
    kind: Literal["open"]
    rate: float
    """Requests a second."""


LoopRamp = TypedDict(
    "LoopRamp",
    {
        "arrivals": NotRequired[Arrivals],
        "from": float,
        "kind": Literal["ramp"],
        "to": float,
    },
)


class Step(TypedDict):
    """One step of a stepped load."""

    rate: float
    """Requests a second."""
    seconds: float
    """How long, in seconds."""


class Tls(TypedDict):
    """How TLS is done."""

    ca_file: NotRequired[str | None]
    """A PEM file of authorities to trust instead of the system's."""
    verify: NotRequired[bool | None]
    """Whether the server's certificate must be valid. A loopback target's is not checked by default."""


class Watch(TypedDict):
    """Which process tree to sample, and how."""

    after_s: NotRequired[float]
    """Seconds of sampling after the load has ended."""
    allowed_cpus: NotRequired[list[int]]
    """The CPUs that the tree was given; empty: nobody looks whether it keeps to them."""
    cgroup_paths: NotRequired[list[str]]
    """Control-group directories whose memory and throttling are read."""
    dependencies: NotRequired[list[Dependency]]
    """Process trees that work for it: databases, brokers. Their CPU is told by name, and is not that of others."""
    interval_s: NotRequired[float]
    """Seconds between two samples."""
    pid: int
    """The root of the process tree."""


class SteadyClosed(TypedDict):
    """When requests are sent, as far as it can be cut into slices: steps and ramps cannot."""

    kind: Literal["closed"]


class SteadyOpen(TypedDict):
    """When requests are sent, as far as it can be cut into slices: steps and ramps cannot."""

    arrivals: NotRequired[Arrivals]
    kind: Literal["open"]
    rate: float


Steady: TypeAlias = SteadyClosed | SteadyOpen
"""When requests are sent, as far as it can be cut into slices: steps and ramps cannot."""


class SlicesOrderEnd(TypedDict):
    """The job is to end."""

    order: Literal["end"]


LapPhase: TypeAlias = Literal["warmup", "load"]
"""What a lap belongs to."""


class TurnOrder(TypedDict):
    """One turn."""

    contender: int
    """The contender's place in the job."""
    seconds: float
    """How long requests are sent."""


class HoldNode(TypedDict):
    """A machine that holds a part of the connections."""

    cpus: list[int]
    """Its CPUs to pin the processes to, in turn."""
    link: str
    """A Unix socket. Each connection to it reaches standard input and output of a `touchstone-engine hold --worker` there."""
    name: str
    """Its name in errors."""
    open_files: int
    """The limit of open files of one process there."""
    ports: int
    """Ports that its connections may have: as many connections as these lead from its address to one server."""


Mode: TypeAlias = Literal["idle", "traffic"]
"""What happens on held connections."""


class Expect(TypedDict):
    """What a response must be."""

    body: NotRequired[ExpectBody | None]
    """What the body must be; absent: anything."""
    content_type: NotRequired[str | None]
    """The media type, without parameters and regardless of case; absent: any."""
    headers: NotRequired[list[tuple[str, str]]]
    """Fields that must be there: name, and a regular expression over the whole value."""
    status: NotRequired[list[int] | None]
    """The statuses that are right; absent or empty: 200 to 299."""


class LoopSteps(TypedDict):
    """One rate after another."""

    arrivals: NotRequired[Arrivals]
    """How the arrivals lie around the rate."""
    kind: Literal["steps"]
    steps: list[Step]
    """The steps, in order. Warm-up runs at the first one's rate."""


Loop: TypeAlias = LoopClosed | LoopOpen | LoopSteps | LoopRamp
"""When requests are sent."""


class Request(TypedDict):
    """One request of the mix."""

    body: NotRequired[str | None]
    """The body, a template."""
    expect: NotRequired[Expect]
    """What the response must be."""
    headers: NotRequired[list[tuple[str, str]]]
    """Header names and values; the values are templates."""
    method: NotRequired[str]
    """The method."""
    name: NotRequired[str | None]
    """The name in the result; by default method and target."""
    target: NotRequired[str | None]
    """The request target, a template; by default the URL's path."""
    weight: NotRequired[int]
    """The share of this request in the mix."""


class SlicesOrderSlices(TypedDict):
    """Turns, in this order."""

    order: Literal["slices"]
    phase: LapPhase
    """What they belong to."""
    turns: list[TurnOrder]
    """Whose turn it is, and for how long."""


SlicesOrder: TypeAlias = SlicesOrderSlices | SlicesOrderEnd
"""One line of standard input."""


class BareRequest(TypedDict):
    """What is sent and what must come back."""

    body: NotRequired[str | None]
    """The body."""
    expect: NotRequired[Expect]
    """What the response must be."""
    headers: NotRequired[list[tuple[str, str]]]
    """Header names and values next to `Host` and `Content-Length`."""
    method: NotRequired[str]
    """The method."""
    target: NotRequired[str | None]
    """The request target, as it goes on the wire; by default the URL's path."""


class HoldJob(TypedDict):
    """What is held, and on whom. `docs/engine-protocol.md` documents each field."""

    after_close_s: NotRequired[float]
    """Wait so long after all connections are closed before memory is read."""
    cgroup_paths: NotRequired[list[str]]
    cpus: NotRequired[list[int]]
    """CPUs of those processes; empty leaves them where the engine is."""
    generators: NotRequired[list[HoldNode]]
    """Machines that hold the connections; if there are none, this one does."""
    levels: list[int]
    """Connections to be held at each level, ascending."""
    mode: NotRequired[Mode]
    open_rate: NotRequired[float]
    """Connections opened a second, over all processes."""
    processes: NotRequired[int | None]
    """Processes that hold the connections; by default as many as the limit of open files asks for."""
    request: NotRequired[BareRequest]
    reserve: NotRequired[float]
    """Share of the machine's memory that must stay available."""
    settle_s: NotRequired[float]
    """Wait so long at each level before memory is read."""
    sources: NotRequired[str | None]
    """Network over whose addresses the connections' sources are spread."""
    timeout_s: NotRequired[float]
    """A connection without a whole response after this long has failed."""
    traffic_rate: NotRequired[float | None]
    """Mode `traffic`: requests a second over all connections; by default each connection gets about one, at most 20,000/s."""
    traffic_s: NotRequired[float]
    """Mode `traffic`: how long requests go over the held connections at each level."""
    url: str
    watch: list[int]
    """Root pids of the server's process trees."""


class JourneyStep(TypedDict):
    """One step of a journey."""

    captures: NotRequired[dict[str, Capture]]
    """Values taken from the response, by name, for `{capture.NAME}` in later steps."""
    request: Request
    """What is sent, and what must come back. Its weight is not looked at."""
    think_s: NotRequired[float]
    """Seconds between the response and the next request on the connection."""


class BootJob(TypedDict):
    """What is started and what it must answer. `docs/engine-protocol.md` documents each field."""

    argv: list[str]
    artifacts: NotRequired[list[str]]
    """Files and folders whose cached pages are dropped; by default the program and the files among its arguments."""
    cgroup_paths: NotRequired[list[str]]
    container_groups: NotRequired[list[str]]
    """Where the group of the container may appear that `argv` starts (memory's): it alone is then measured."""
    cpus: NotRequired[list[int]]
    """CPUs of the server; empty leaves it where the engine is."""
    cwd: NotRequired[str | None]
    drop_page_cache: NotRequired[bool]
    env: NotRequired[dict[str, str]]
    inherit_env: NotRequired[bool]
    """Whether the engine's own environment is passed on, under `env`."""
    log: NotRequired[str | None]
    """The server's standard output and standard error are appended here."""
    poll_interval_s: NotRequired[float]
    repeats: NotRequired[int]
    request: NotRequired[BareRequest]
    settle_s: NotRequired[float]
    """After the first response, wait so long and read the memory once more."""
    stop_timeout_s: NotRequired[float]
    timeout_s: NotRequired[float]
    url: str


class Journey(TypedDict):
    """A user's way through the service: requests one after the other on the same connection."""

    name: str
    """The name in the result."""
    steps: list[JourneyStep]
    """What is sent, in order."""
    weight: NotRequired[int]
    """The share of this journey in the mix."""


class Traffic(TypedDict):
    """A load without a length, CPUs and threads of its own: the fields of a load job that a slice leaves open."""

    allow_hosts: NotRequired[list[str]]
    backend: NotRequired[BackendChoice]
    connections: NotRequired[int]
    first_counter: NotRequired[int]
    fresh: NotRequired[str | None]
    journeys: NotRequired[list[Journey]]
    keepalive: NotRequired[bool]
    loop: NotRequired[Steady]
    pacing_slot_s: NotRequired[float]
    pipeline: NotRequired[int]
    requests: NotRequired[list[Request]]
    rows: NotRequired[str | None]
    seed: NotRequired[int]
    sources: NotRequired[str | None]
    timeout_s: NotRequired[float]
    tls: NotRequired[Tls]
    url: str
    watch: NotRequired[Watch | None]


class LoadJob(TypedDict):
    """One load job."""

    allow_hosts: NotRequired[list[str]]
    """Hosts outside this machine that may be loaded."""
    backend: NotRequired[BackendChoice]
    """Which kernel interface moves the bytes."""
    connections: NotRequired[int]
    """Connections over all threads and processes."""
    cpus: NotRequired[list[int] | None]
    """CPUs to pin the threads to, in turn; empty or absent: not pinned."""
    duration_s: NotRequired[float]
    """Seconds of the measured window. With steps, their sum counts instead."""
    first_counter: NotRequired[int]
    """Where the numbers of requests begin: a later load on the same service goes on where an earlier one ended."""
    fresh: NotRequired[str | None]
    """The text of `{fresh}`; absent: one that follows from the seed."""
    generators: NotRequired[list[GeneratorNode]]
    """Machines that put the load on in place of this one, each an equal part of it."""
    journeys: NotRequired[list[Journey]]
    """Requests in order, in place of `requests`."""
    keepalive: NotRequired[bool]
    """False: a connection for each request."""
    loop: NotRequired[Loop]
    """When requests are sent."""
    max_requests: NotRequired[int | None]
    """Ends the window after this many requests, if the duration has not ended it before."""
    pacing_slot_s: NotRequired[float]
    """Open loop: sends wait for the next multiple of this many seconds, which saves wake-ups. 0: no waiting."""
    pipeline: NotRequired[int]
    """Requests in flight on one connection."""
    requests: NotRequired[list[Request]]
    """The requests of the mix; absent, and without journeys: one GET of the URL."""
    rows: NotRequired[str | None]
    """A CSV or JSON lines file whose rows `{row.NAME}` takes values from."""
    seed: NotRequired[int]
    """Seed of all randomness in the job."""
    series_interval_s: NotRequired[float]
    """Length of one interval of the series."""
    sources: NotRequired[str | None]
    """An IPv4 network over whose addresses the connections' sources are spread."""
    threads: NotRequired[int]
    """Threads, each with its own sockets."""
    timeout_s: NotRequired[float]
    """A request without a complete response after this many seconds is given up; so is a connection attempt."""
    tls: NotRequired[Tls]
    """How TLS is done when the URL says https."""
    url: str
    """`http://host:port` or `https://host:port`; a path is used where a request names no target."""
    warmup_s: NotRequired[float]
    """Seconds of load before the measured window."""
    watch: NotRequired[Watch | None]
    """The server's process tree, sampled on the same clock."""


class Contender(TypedDict):
    """One of them."""

    job: Traffic
    """Its load."""
    name: str
    """Its name in events and errors."""


class SlicesJob(TypedDict):
    """Several contenders that are loaded in turn."""

    contenders: list[Contender]
    """Whom to load."""
    cpus: NotRequired[list[int] | None]
    """CPUs to pin the threads to, in turn; empty or absent: not pinned."""
    gap_s: NotRequired[float]
    """Seconds of rest after each slice, in which its server falls quiet."""
    generators: NotRequired[list[GeneratorNode]]
    """Machines that put the load on; if there are none, this one does."""
    threads: NotRequired[int]
    """Threads of each contender's load."""
