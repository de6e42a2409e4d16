"""The jobs that the engine reads. Made from its own types by `python -m tests.engine.protocol`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Arrivals: TypeAlias = Literal["uniform", "poisson"]
"""How arrivals lie around their rate."""


BackendChoice: TypeAlias = Literal["auto", "epoll", "io_uring"]
"""Which kernel interface moves the bytes."""


BodyEncoding: TypeAlias = Literal["text", "bytes"]
"""How the text of a request's body becomes bytes."""


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
    """The name for its CPU time; several trees may share a name."""
    pid: int
    """The root of its process tree."""


Encoding: TypeAlias = Literal["text", "bytes", "decoded"]
"""What a body is compared as."""


class ExpectBodyAny(TypedDict):
    """Anything."""

    kind: Literal["any"]


class ExpectBodyExact(TypedDict):
    """These bytes."""

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
    """
    Field to value, or to `{"type": ...}` with one of `string`, `number`, `integer`, `boolean`, `null`, `array`
    and `object`. Texts are templates. Values are compared as they were sent: 1.0 is 1, and 19.990000000000002 is
    not 19.99.
    """
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
    """
    A Unix socket. Each connection to it reaches standard input and output of a `touchstone-engine load --worker`
    there.
    """
    name: str
    """Its name in the result and in errors."""
    open_files: int
    """Its limit of open files."""


class Grpc(TypedDict):
    """A gRPC method; one that streams its responses needs `stream`. The request's body is its message in JSON, by
    default an empty one; for a method that takes a stream any number of messages, one behind the other, which are
    all sent before the request ends. Method, target and media type follow. A response that is not a stream must
    have one message and `grpc-status`; `expect.body` is about that message: as JSON with the names of JSON, every
    field in it and 64-bit numbers as numbers, and an exact one by its fields. It needs HTTP/2.
    """

    messages: NotRequired[int | None]
    """How often the body is sent in one call, of a method that takes a stream; null: once."""
    method: str
    """`package.Service/Method`."""
    proto: NotRequired[str | None]
    """The schema: a `.proto` file, or a descriptor set; null: the health protocol and server reflection."""
    proto_path: NotRequired[list[str]]
    """Folders in which imports are looked for; if there are none, the file's own and those above it."""
    reflected: NotRequired[str | None]
    """The schema as the server gave it by reflection, in place of `proto`: a descriptor set in base64."""


class LoopClosed(TypedDict):
    """A connection sends its next request when the response to the last one has come."""

    kind: Literal["closed"]


class LoopOpen(TypedDict):
    """Requests are due at a constant rate whatever the server does."""

    arrivals: NotRequired[Arrivals]
    """How the arrivals lie around the rate."""
    kind: Literal["open"]
    rate: float
    """Requests per second."""


LoopRamp = TypedDict(
    "LoopRamp",
    {
        "arrivals": NotRequired[Arrivals],
        "from": float,
        "kind": Literal["ramp"],
        "to": float,
    },
)


MinVersion: TypeAlias = Literal["1.2", "1.3"]
"""A version of TLS."""


Protocol: TypeAlias = Literal["h1", "h2c", "h2"]
"""A protocol between client and server."""


class Step(TypedDict):
    """One step of a stepped load."""

    rate: float
    """Requests per second."""
    seconds: float
    """How long, in seconds."""


StreamKind: TypeAlias = Literal["sse", "lines", "chunks", "messages"]
"""What one event of a stream is."""


class Tail(TypedDict):
    """Which requests' stamps are kept, and how the server is looked at meanwhile."""

    addresses: NotRequired[list[str]]
    """Where the server's dependencies listen, as `IP:PORT`: its requests to them are timed from outside."""
    interval_s: NotRequired[float]
    """Seconds between two looks at the server."""
    sampled: NotRequired[int]
    """How many are drawn at random from all."""
    slowest: NotRequired[int]
    """How many of the slowest requests are kept."""


class Tls(TypedDict):
    """How TLS is done."""

    ca_file: NotRequired[str | None]
    """A PEM file of authorities to trust instead of the system's. A server's own certificate may stand there, too."""
    cert: NotRequired[str | None]
    """A PEM file with the client's certificate and those that lead to its authority."""
    key: NotRequired[str | None]
    """A PEM file with the certificate's key (PKCS#8, PKCS#1 or SEC1, not encrypted). Null: the key is in `cert`."""
    min_version: NotRequired[MinVersion | None]
    """The oldest version that is offered. Null: 1.2; no older one is spoken."""
    resume: NotRequired[bool]
    """
    Whether a new connection goes on with the session of an earlier one, where the server lets it. Otherwise each
    has a full handshake.
    """
    sni: NotRequired[str | None]
    """
    The name that is sent to the server (SNI), and that its certificate must have where it is verified. Null: the
    URL's host, where that is a name. An empty text: none is sent.
    """
    verify: NotRequired[bool | None]
    """
    Whether the server's certificate must be valid. Null: it must be if the target is not on this machine, or
    `ca_file` is given.
    """


class Watch(TypedDict):
    """Which process tree to sample, and how."""

    after_s: NotRequired[float]
    """Seconds of sampling after the load has ended."""
    allowed_cpus: NotRequired[list[int]]
    """The CPUs that the tree was given; empty: nobody looks whether it keeps to them."""
    cgroup_paths: NotRequired[list[str]]
    """Control-group directories whose memory and throttling are read."""
    dependencies: NotRequired[list[Dependency]]
    """
    Process trees that work for it: databases, brokers. Their CPU is reported by name, and not as other processes'
    CPU.
    """
    interval_s: NotRequired[float]
    """Seconds between two samples."""
    pid: int
    """The root of the process tree."""


WebSocketKind: TypeAlias = Literal["echo"]
"""What is done with a message over a WebSocket."""


class SteadyClosed(TypedDict):
    """A connection sends its next request when the response to the last one has come."""

    kind: Literal["closed"]


class SteadyOpen(TypedDict):
    """Requests are due at a constant rate whatever the server does."""

    arrivals: NotRequired[Arrivals]
    """How the arrivals lie around the rate."""
    kind: Literal["open"]
    rate: float
    """Requests per second."""


Steady: TypeAlias = SteadyClosed | SteadyOpen
"""When requests are sent, as far as it can be cut into slices: steps and ramps cannot."""


class SlicesOrderEnd(TypedDict):
    """The job is to end, as it does when standard input ends. After SIGINT it ends with the slice under way."""

    order: Literal["end"]


LapPhase: TypeAlias = Literal["warmup", "load"]
"""What a lap belongs to."""


class TurnOrder(TypedDict):
    """One turn."""

    contender: int
    """The contender's place in the job."""
    seconds: float
    """How long requests are sent."""


class Values(TypedDict):
    """What placeholders stand for."""

    captured: NotRequired[dict[str, str]]
    """What was captured before, by name."""
    counter: int
    """The number of the first request, for `{counter}`, `{random}` and `{key:...}`."""
    fresh: str
    """The text of `{fresh}`."""
    seed: int
    """The seed of `{random}` and `{key:...}`."""


class AskOrderTls(TypedDict):
    """Whether settings of TLS can be used: files, names; nothing is sent."""

    id: int
    """The order's number."""
    order: Literal["tls"]
    settings: list[Tls]
    """The settings, each by itself."""


class AskOrderMethods(TypedDict):
    """The gRPC methods of a schema, for a draft; nothing is opened."""

    id: int
    """The order's number."""
    order: Literal["methods"]
    proto: str
    """A `.proto` file, or a descriptor set."""


class AskOrderUrl(TypedDict):
    """Takes a URL apart, as it may be pasted; nothing is opened."""

    id: int
    """The order's number."""
    order: Literal["url"]
    url: str
    """The URL."""


class AskOrderResolve(TypedDict):
    """The addresses of a URL's host, in the order in which they are tried; nothing is opened."""

    id: int
    """The order's number."""
    order: Literal["resolve"]
    url: str
    """The URL."""


class AskOrderLocate(TypedDict):
    """Finds the first address of a URL's host that accepts a connection. It is remembered: all that the session
    sends to this host and port goes there, until it takes none.
    """

    id: int
    """The order's number."""
    order: Literal["locate"]
    url: str
    """The URL."""


class AskOrderSpeaksHttp2(TypedDict):
    """Whether the server at a URL begins an HTTP/2 connection without TLS (RFC 9113, section 3.3)."""

    id: int
    """The order's number."""
    order: Literal["speaks_http2"]
    url: str
    """The URL."""


class AskOrderRelease(TypedDict):
    """Closes the connection that was kept in a lane, and forgets its cookies."""

    id: int
    """The order's number."""
    lane: int
    """The lane."""
    order: Literal["release"]


Place: TypeAlias = Literal["target", "header", "body"]
"""Where a text stands: what a value from outside may be there differs."""


class Text(TypedDict):
    """A text with placeholders."""

    place: NotRequired[Place]
    """Where it stands."""
    text: str
    """The text."""


class AskAnswerTexts(TypedDict):
    """To `render`: the texts with their placeholders filled in."""

    id: int | None
    """The order's number; null where the line has none."""
    texts: list[str]


class AskAnswerRefused(TypedDict):
    """To `compile`: for each request null, or a sentence that begins with the part that does not hold together."""

    id: int | None
    """The order's number; null where the line has none."""
    refused: list[str | None]


class AskAnswerAddresses(TypedDict):
    """To `resolve`: the addresses."""

    id: int | None
    """The order's number; null where the line has none."""
    addresses: list[str]


class AskAnswerAddress(TypedDict):
    """To `locate`: the address."""

    id: int | None
    """The order's number; null where the line has none."""
    address: str


class AskAnswerHttp2(TypedDict):
    """To `speaks_http2`: whether it does; false where it cannot be asked."""

    id: int | None
    """The order's number; null where the line has none."""
    http2: bool


class AskAnswerClosed(TypedDict):
    """To `release`: whether a connection was open."""

    id: int | None
    """The order's number; null where the line has none."""
    closed: bool


class AskAnswerError(TypedDict):
    """A sentence on why the order was not carried out."""

    id: int | None
    """The order's number; null where the line has none."""
    error: str


class Exchange(TypedDict):
    """A request and what came back."""

    address: str | None
    """Where it was sent; null if there was no connection."""
    body: str
    """The body, or its beginning, in base64."""
    body_bytes: int
    """Bytes of the whole body."""
    captured: dict[str, str]
    """The captured values, by name; of a right response alone."""
    connect_s: float
    """Seconds that connecting took; 0 on a reused connection."""
    counter: int
    """The number of the request."""
    failure: str | None
    """Why there is no whole response."""
    faults: list[str]
    """All that is wrong with the response, a sentence each; with a failure, that alone."""
    fields: list[tuple[str, str]]
    """Names and values of the response's fields, in their order."""
    first_byte_s: float | None
    """Seconds from the start, connecting included, to the first byte of the response; null without a whole response."""
    mismatch: bool
    """
    Whether the server was seen to speak something else than it is asked in: no TLS, none that the two have in
    common, or no HTTP/2.
    """
    repeated: bool
    """Whether it was sent once more, because a kept connection had been closed meanwhile."""
    reused: bool
    """Whether an earlier request had gone over the connection."""
    status: int | None
    """The status; null without a whole response."""
    took_s: float
    """Seconds from the start to the end, whatever it was."""


class MethodOutline(TypedDict):
    """A gRPC method as a draft needs it."""

    example: str
    """A message of the request in JSON, with a value in each field."""
    fields: dict[str, str]
    """The fields that each message of the response has, with their types in JSON."""
    is_streaming: bool
    """Whether the response may have any number of messages."""
    name: str
    """`package.Service/Method`."""
    takes_stream: bool
    """Whether the request may have any number of messages."""


class UrlParts(TypedDict):
    """A URL, taken apart."""

    host: str
    """The host, without brackets."""
    origin: str
    """Scheme, host and port as given."""
    port: int
    """The port, the scheme's own if none is given."""
    socket: str | None
    """The path of a Unix socket; null for a host and a port."""
    target: str
    """Path and query as they are sent, at least `/`."""
    tls: bool
    """Whether the scheme is https."""


class HoldNode(TypedDict):
    """A machine that holds a part of the connections."""

    cpus: list[int]
    """Its CPUs to pin the processes to, in turn."""
    link: str
    """
    A Unix socket. Each connection to it reaches standard input and output of a `touchstone-engine hold --worker`
    there.
    """
    name: str
    """Its name in errors."""
    open_files: int
    """The limit of open files of one process there."""
    ports: int
    """Ports that its connections may have: as many connections as these lead from its address to one server."""


Mode: TypeAlias = Literal["idle", "traffic"]
"""What happens on held connections."""


class Successor(TypedDict):
    """A process that runs beside the one that is ended, and takes its place."""

    address: NotRequired[str | None]
    """
    Where it listens, `IP:PORT`: clients connect to a relay of the job, which leads new connections to it from
    just before the signal. Null: it listens at the same address as the process that is ended.
    """
    after_s: NotRequired[float]
    """Seconds of load after the other process has ended."""
    pid: int
    """Its process."""


class RelayOrderAim(TypedDict):
    """Connects new connections to this address. Those of before are cut."""

    order: Literal["aim"]
    to: str
    """`IP:PORT` of the dependency."""


class RelayOrderCount(TypedDict):
    """Changes nothing; the counts are asked for."""

    order: Literal["count"]


class ActPass(TypedDict):
    """Passes bytes on as they come. What an earlier act held goes first."""

    kind: Literal["pass"]


class ActStall(TypedDict):
    """Holds all bytes and all ends of connections, in both directions. New connections are accepted, and nothing
    comes of them.
    """

    kind: Literal["stall"]


class ActSlow(TypedDict):
    """Holds what the dependency sends for a while."""

    delay_s: float
    """Seconds that each part is held."""
    jitter_s: float
    """Seconds by which a part may be held longer or shorter, drawn evenly."""
    kind: Literal["slow"]


class ActDrip(TypedDict):
    """Passes on what the dependency sends at a few bytes per second and connection."""

    bytes_per_s: float
    """Bytes per second."""
    kind: Literal["drip"]


class ActRefuse(TypedDict):
    """Closes the port and resets all connections: nobody listens."""

    kind: Literal["refuse"]


class ActReset(TypedDict):
    """Resets all connections at once; new ones are served."""

    kind: Literal["reset"]


class ActLimit(TypedDict):
    """Serves this number of connections. The newest ones beyond it are reset, and further ones are closed when they
    have been accepted.
    """

    connections: int
    """Connections that are served."""
    kind: Literal["limit"]


Act: TypeAlias = ActPass | ActStall | ActSlow | ActDrip | ActRefuse | ActReset | ActLimit
"""What the relay does to connections."""


class Expect(TypedDict):
    """What a response must be. An expression that is none makes the job malformed, before anything is opened."""

    body: NotRequired[ExpectBody | None]
    """What the body must be; null: anything."""
    content_type: NotRequired[str | None]
    """
    The media type (RFC 9110, section 8.3.1), regardless of case; its parameters must be there, and others may be.
    Null: any.
    """
    encoding: NotRequired[Encoding]
    """What the body is compared as."""
    grpc_status: NotRequired[list[str] | None]
    """
    The correct status codes of a gRPC call, by name or number; null or empty: `OK`. The message is looked at
    where the code is `OK`.
    """
    headers: NotRequired[list[tuple[str, str]]]
    """
    Fields that must be there: name, and a regular expression over the whole value. Several lines of one name are
    joined by `, ` (RFC 9110, section 5.3).
    """
    status: NotRequired[list[int] | None]
    """
    The correct statuses; null or empty: 200 to 299. The body of a response to HEAD, of 204 and of 304 is not
    looked at.
    """


class LoopSteps(TypedDict):
    """One rate after another."""

    arrivals: NotRequired[Arrivals]
    """How the arrivals lie around the rate."""
    kind: Literal["steps"]
    steps: list[Step]
    """The steps, in order. Warm-up runs at the first one's rate."""


Loop: TypeAlias = LoopClosed | LoopOpen | LoopSteps | LoopRamp
"""When requests are sent."""


class Stream(TypedDict):
    """A response that is a stream of events. It is right when as many came as are stated, each right, and by their
    counter none lost, doubled or out of order. The server may go on streaming: what comes after them is not
    looked at.
    """

    counter: NotRequired[str | None]
    """
    Where a number is that rises by one from event to event: `id` (server-sent events), `data`, or `json.NAME`,
    with further names behind dots. Null: none, and events are counted only.
    """
    event: NotRequired[str | None]
    """Server-sent events: the type (`event:`) of the events that count; null: all count."""
    events: int
    """How many events must come."""
    expect: NotRequired[ExpectBody | None]
    """What the data of each event must be; null: anything."""
    first: NotRequired[int | None]
    """The number of the first event; null: whichever comes first."""
    kind: StreamKind
    """What one event is."""
    stamp: NotRequired[str | None]
    """
    Where the time is at which the service sent the event, written as for `counter`: Unix time in seconds,
    milliseconds, microseconds or nanoseconds, by its size.
    """


class WebSocket(TypedDict):
    """A message over a WebSocket (RFC 6455). The request is the handshake, a GET by HTTP/1.1, and its body is the
    message: text, or binary with the encoding `bytes`. `expect.body` is about the message that comes back; if
    that is null or `any`, it is the same message. All requests of a job are messages, or none, and all have one
    handshake: in its target and fields `{counter}` is the number of the connection.
    """

    greetings: NotRequired[int]
    """Messages that the server sends on its own when a connection opens: it is used once they have come."""
    kind: WebSocketKind
    """What is done with the message."""


class SlicesOrderSlices(TypedDict):
    """Turns, in this order. A turn begins with settling, before its clock starts: what the contender's sockets
    signalled since its last turn is looked at, and lost connections are replaced, for at most one second; those
    that the server had closed count as `closed_idle` of the slice, and as `reconnects`. Then all connections are
    filled (closed loop), or the arrivals go on where the last turn left them (open loop: its clock runs only in
    its own turns, and late requests of the turn are still sent). After `seconds` sending stops. Responses under
    way are awaited, at most `timeout_s`; what has none by then is a `timeout` of the slice, and its connection is
    replaced. A turn that finds not one connection passes at once. `gap_s` of rest follow. The threads of a
    contender that is not loaded sleep without any wake-up.
    """

    order: Literal["slices"]
    phase: LapPhase
    """What they belong to."""
    turns: list[TurnOrder]
    """Whose turn it is, and for how long."""


class BareRequest(TypedDict):
    """What is sent and what must come back. All texts but names are templates (docs/templates.md)."""

    body: NotRequired[str | None]
    """The body."""
    encoding: NotRequired[BodyEncoding]
    """How the body's text becomes bytes."""
    expect: NotRequired[Expect]
    """What the response must be."""
    grpc: NotRequired[Grpc | None]
    """The gRPC method that is called; null: plain HTTP."""
    headers: NotRequired[list[tuple[str, str]]]
    """
    Names and values of fields. `Content-Length` and `Transfer-Encoding` are refused, since the engine frames the
    body; `Host` takes the place of the URL's.
    """
    method: NotRequired[str]
    """The method."""
    target: NotRequired[str | None]
    """The request target, as it goes on the wire; by default the URL's path."""
    websocket: NotRequired[WebSocket | None]
    """The request is the handshake of a WebSocket, and its body a message; null: plain HTTP."""


class AskOrderRender(TypedDict):
    """Fills in the placeholders of texts; nothing is sent."""

    id: int
    """The order's number."""
    order: Literal["render"]
    texts: list[Text]
    """The texts."""
    values: Values
    """What the placeholders stand for."""


class AskAnswerExchanges(TypedDict):
    """To `send`: one a request, in the order of their counters."""

    id: int | None
    """The order's number; null where the line has none."""
    exchanges: list[Exchange]


class AskAnswerMethods(TypedDict):
    """To `methods`: the methods, in the order of the schema."""

    id: int | None
    """The order's number; null where the line has none."""
    methods: list[MethodOutline]


class AskAnswerUrl(TypedDict):
    """To `url`: its parts."""

    id: int | None
    """The order's number; null where the line has none."""
    url: UrlParts


AskAnswer: TypeAlias = (
    AskAnswerExchanges
    | AskAnswerTexts
    | AskAnswerRefused
    | AskAnswerMethods
    | AskAnswerUrl
    | AskAnswerAddresses
    | AskAnswerAddress
    | AskAnswerHttp2
    | AskAnswerClosed
    | AskAnswerError
)
"""One line of standard output, for the order of the same `id`."""


class BootJob(TypedDict):
    """A start and the response that it must give. The engine forks and executes the program itself, in a session and
    process group of its own.
    """

    argv: list[str]
    """The program and its arguments."""
    artifacts: NotRequired[list[str]]
    """Files and folders whose cached pages are dropped; by default the program and the files among its arguments."""
    cgroup_paths: NotRequired[list[str]]
    """Cgroups that it is in before it executes: `cgroup.procs` of each."""
    container_groups: NotRequired[list[str]]
    """
    For an `argv` that is a container runtime's client: the folders (of the controller memory) where the
    container's group may appear. Memory, CPU and threads are then those of what is in it, without client and
    monitor.
    """
    cpus: NotRequired[list[int]]
    """CPUs of the server; empty leaves it where the engine is."""
    cwd: NotRequired[str | None]
    """The folder that it is started in; null: the engine's."""
    drop_page_cache: NotRequired[bool]
    """
    Whether `artifacts` leave the page cache before each start, by `posix_fadvise`, and the rest by
    `/proc/sys/vm/drop_caches`. `mincore` says whether that worked.
    """
    env: NotRequired[dict[str, str]]
    """Added to the engine's environment."""
    inherit_env: NotRequired[bool]
    """Whether the engine's environment is passed on; if not, `env` is all that the server gets."""
    log: NotRequired[str | None]
    """The server's standard output and standard error are appended here."""
    poll_interval_s: NotRequired[float]
    """Seconds between two attempts to connect."""
    protocol: NotRequired[Protocol]
    """What is spoken."""
    repeats: NotRequired[int]
    """Starts, one after the other."""
    request: NotRequired[BareRequest]
    """What is asked until the response is as expected. The whole response counts, by its framing."""
    settle_s: NotRequired[float]
    """After the first response, wait so long and read the memory once more."""
    stop_timeout_s: NotRequired[float]
    """Seconds after SIGTERM until SIGKILL."""
    timeout_s: NotRequired[float]
    """A start without a correct response after this many seconds has failed."""
    tls: NotRequired[Tls]
    """How TLS is done when the URL says https."""
    url: str
    """Where it will answer: `http://HOST:PORT` or `https://HOST:PORT`, an address of this machine."""


class HoldJob(TypedDict):
    """What is held, and on whom. Each connection carries one request when it opens, and its response is checked
    whole. The connections are held by child processes of the engine, each with source addresses of its own,
    10,000 connections to each.
    """

    after_close_s: NotRequired[float]
    """Wait so long after all connections are closed before memory is read."""
    cgroup_paths: NotRequired[list[str]]
    """Cgroups whose memory is read."""
    connect_to: NotRequired[str | None]
    """The address that is connected to, `IP:PORT`; null: of the host's addresses the first that takes a connection."""
    cpus: NotRequired[list[int]]
    """CPUs of those processes; empty leaves them where the engine is."""
    generators: NotRequired[list[HoldNode]]
    """
    Machines that hold the connections, an equal part each; if there are none, this one does. `client` is then
    this engine alone, and `kernel` the server's end alone. A machine that is lost, or says nothing for 20 s, ends
    the job with an error that names it.
    """
    levels: list[int]
    """Connections to be held at each level, ascending; those of a level stay for the next."""
    mode: NotRequired[Mode]
    """What happens on held connections."""
    open_rate: NotRequired[float]
    """Connections opened a second, over all processes."""
    processes: NotRequired[int | None]
    """Processes that hold the connections; by default as many as the limit of open files asks for."""
    protocol: NotRequired[Protocol]
    """What is spoken."""
    request: NotRequired[BareRequest]
    """What each connection asks when it opens."""
    reserve: NotRequired[float]
    """
    Share of the machine's memory that must stay available. A level is refused before it is tried when the bytes
    per connection so far (server, clients, slabs and TCP buffers, with a margin of 15 %) would leave less, or
    when limits of open files do not allow it. It is approached in steps without an entry of their own, each
    weighed: by 2,000 connections where no level of at least 1,000 has been read (48 KiB per connection are
    assumed), and by as many as half of the free memory holds where the level seems to take too much. It is
    refused when a step would lead less than 5 % of the way; `held` is then how far the steps led. Should memory
    run short while connections are opened, opening stops, and the level says so.
    """
    settle_s: NotRequired[float]
    """Wait so long at each level before memory is read."""
    sources: NotRequired[str | None]
    """Network over whose addresses the connections' sources are spread."""
    timeout_s: NotRequired[float]
    """A connection without a whole response after this long has failed."""
    tls: NotRequired[Tls]
    """How TLS is done when the URL says https."""
    traffic_rate: NotRequired[float | None]
    """
    Mode `traffic`: requests a second over all connections; by default each connection gets about one, at most
    20,000/s.
    """
    traffic_s: NotRequired[float]
    """Mode `traffic`: how long requests go over the held connections at each level."""
    url: str
    """The server's URL, an address of this machine. Handshakes of TLS are a part of opening."""
    watch: list[int]
    """Root pids of the server's process trees; several may share the port by SO_REUSEPORT."""


class StopJob(TypedDict):
    """A service that is ended with SIGTERM, and the clients that it has at that moment."""

    before_s: NotRequired[float]
    """Seconds of load before the signal."""
    captured: NotRequired[dict[str, str]]
    """What was captured before, by name: `{capture.NAME}` stands for it."""
    connect_to: NotRequired[str | None]
    """The address that is connected to, `IP:PORT`; null: of the host's addresses the first that takes a connection."""
    connections: NotRequired[int]
    """
    Kept connections that these requests use in turn, each opened and used once before. A request that finds none
    at rest opens one more.
    """
    fresh: NotRequired[str]
    """The text of `{fresh}`."""
    half_sent: NotRequired[int]
    """Connections on which the first half of a request is sent, and no more."""
    held: NotRequired[int]
    """Requests that are under way when the signal comes, each on a connection of its own."""
    held_request: NotRequired[BareRequest | None]
    """What is sent on these; null: the next of `requests`."""
    idle: NotRequired[int]
    """Connections at rest, each after one response."""
    lead_s: NotRequired[float]
    """How many seconds before the signal these are sent. Each must take longer than that."""
    pid: int
    """The process that gets SIGTERM. The job ends when this process has ended."""
    protocol: NotRequired[Protocol]
    """The protocol of the requests. Over HTTP/2, too, a connection carries one request at a time."""
    rate: NotRequired[float]
    """Requests per second, at even distances, whether or not earlier ones were answered; 0 for none."""
    requests: list[BareRequest]
    """What is sent: the requests come in turn."""
    rows: NotRequired[str | None]
    """A CSV or JSON lines file whose rows `{row.NAME}` takes values from."""
    seed: NotRequired[int]
    """The seed of what requests draw."""
    silent: NotRequired[int]
    """Connections on which nothing is sent."""
    streams: NotRequired[int]
    """
    Streams that are open at the signal, each on a connection of its own: responses that go on, and WebSockets on
    which nothing is sent. With them, `requests` are theirs.
    """
    successor: NotRequired[Successor | None]
    """The process that takes over, with which the load goes on; null: nobody does."""
    timeout_s: NotRequired[float]
    """A service that has not ended this many seconds after SIGTERM counts as one that does not end."""
    tls: NotRequired[Tls]
    """How TLS is done when the URL says https."""
    url: str
    """The service's URL, an address of this machine; TLS if it says https."""


class RelayOrderAct(TypedDict):
    """Does this to connections from now on, in place of the act before."""

    act: Act
    """What is done."""
    order: Literal["act"]


RelayOrder: TypeAlias = RelayOrderAim | RelayOrderAct | RelayOrderCount
"""
One line of standard input. Orders are carried out as they come; each is answered by one line. The end of
standard input ends the relay.
"""


class BoundsJob(TypedDict):
    """A service whose bounds are looked for."""

    answer_s: NotRequired[float]
    """How many seconds a response may take."""
    bytes: NotRequired[int]
    """The largest field, and the largest target, that is sent, in bytes."""
    connect_to: NotRequired[str | None]
    """The address that is connected to, `IP:PORT`; null: of the host's addresses the first that takes a connection."""
    fields: NotRequired[int]
    """The most fields that are added to a request."""
    request: BareRequest
    """What is sent: a request without a body, whose response is the expected one."""
    responses: NotRequired[int]
    """How many responses are asked for on one connection."""
    url: str
    """The service's URL."""
    watch_s: NotRequired[float]
    """How long quiet connections are watched, in seconds."""


class Request(TypedDict):
    """One request of the mix."""

    body: NotRequired[str | None]
    """The body, a template."""
    encoding: NotRequired[BodyEncoding]
    """How the body's text becomes bytes."""
    expect: NotRequired[Expect]
    """What the response must be."""
    grpc: NotRequired[Grpc | None]
    """The gRPC method that is called; null: plain HTTP."""
    headers: NotRequired[list[tuple[str, str]]]
    """
    Names and values of fields; the values are templates (docs/templates.md). `Content-Length` and `Transfer-
    Encoding` are refused, since the engine frames the body; `Host` takes the place of the URL's.
    """
    method: NotRequired[str]
    """The method."""
    name: NotRequired[str | None]
    """The name in the result; by default method and target."""
    stream: NotRequired[Stream | None]
    """The response is a stream of events; null: it is not."""
    target: NotRequired[str | None]
    """The request target, a template; by default the URL's path."""
    websocket: NotRequired[WebSocket | None]
    """The request is the handshake of a WebSocket, and its body a message; null: plain HTTP."""
    weight: NotRequired[int]
    """The share of this request in the mix."""


class Asked(TypedDict):
    """A request, and what is taken from its response."""

    captures: NotRequired[dict[str, Capture]]
    """Values taken from a right response, by name."""
    request: BareRequest
    """What is sent, and what must come back."""
    stream: NotRequired[Stream | None]
    """The response is a stream of events; null: it is not. `timeout_s` holds for each event then."""


class Send(TypedDict):
    """A request that is sent, once or often."""

    asked: Asked
    """The request, and what its response must be."""
    body_bytes: NotRequired[int | None]
    """Bytes of each body that are shown; null: all."""
    concurrent: NotRequired[int]
    """How many are under way at a time."""
    cookies: NotRequired[bool]
    """Whether cookies that right responses in the lane set are sent back in it, as in a journey."""
    id: int
    """The order's number."""
    lane: NotRequired[int | None]
    """
    The lane whose connection is used and kept, where requests are sent one at a time. An idempotent request takes
    the one that is open, and is sent once more on a fresh one if the server closed it meanwhile (RFC 9112,
    section 9.3.1); any other request opens one. Null: a connection for each request, closed behind it.
    """
    protocol: NotRequired[Protocol]
    """What is spoken."""
    repeat: NotRequired[int]
    """How often it is sent."""
    timeout_s: NotRequired[float]
    """An exchange, with connecting, that takes longer has failed."""
    tls: NotRequired[Tls]
    """How TLS is done when the URL says https."""
    url: str
    """`http://HOST:PORT`, or `https://HOST:PORT`; its path is used where the request names no target."""
    values: Values
    """What the placeholders stand for; each further request has the next `counter`."""
    within_s: NotRequired[float]
    """A request whose response is wrong is sent again until this many seconds have passed."""


class AskOrderSend(TypedDict):
    """Sends a request, once or often, checks each response, and takes the captured values from it."""

    asked: Asked
    """The request, and what its response must be."""
    body_bytes: NotRequired[int | None]
    """Bytes of each body that are shown; null: all."""
    concurrent: NotRequired[int]
    """How many are under way at a time."""
    cookies: NotRequired[bool]
    """Whether cookies that right responses in the lane set are sent back in it, as in a journey."""
    id: int
    """The order's number."""
    lane: NotRequired[int | None]
    """
    The lane whose connection is used and kept, where requests are sent one at a time. An idempotent request takes
    the one that is open, and is sent once more on a fresh one if the server closed it meanwhile (RFC 9112,
    section 9.3.1); any other request opens one. Null: a connection for each request, closed behind it.
    """
    order: Literal["send"]
    protocol: NotRequired[Protocol]
    """What is spoken."""
    repeat: NotRequired[int]
    """How often it is sent."""
    timeout_s: NotRequired[float]
    """An exchange, with connecting, that takes longer has failed."""
    tls: NotRequired[Tls]
    """How TLS is done when the URL says https."""
    url: str
    """`http://HOST:PORT`, or `https://HOST:PORT`; its path is used where the request names no target."""
    values: Values
    """What the placeholders stand for; each further request has the next `counter`."""
    within_s: NotRequired[float]
    """A request whose response is wrong is sent again until this many seconds have passed."""


class AskOrderCompile(TypedDict):
    """Whether requests hold together (methods, targets, fields, templates, patterns); nothing is sent."""

    id: int
    """The order's number."""
    order: Literal["compile"]
    requests: list[Asked]
    """The requests, each by itself."""


AskOrder: TypeAlias = (
    AskOrderSend
    | AskOrderRender
    | AskOrderCompile
    | AskOrderTls
    | AskOrderMethods
    | AskOrderUrl
    | AskOrderResolve
    | AskOrderLocate
    | AskOrderSpeaksHttp2
    | AskOrderRelease
)
"""
One line of standard input. Orders are carried out as they come, several at once; each is answered by one line
with its `id`. The end of standard input ends the session.
"""


class JourneyStep(TypedDict):
    """One step of a journey."""

    captures: NotRequired[dict[str, Capture]]
    """Values taken from the response, by name, for `{capture.NAME}` in later steps."""
    request: Request
    """What is sent, and what must come back. Its weight is not looked at."""
    think_s: NotRequired[float]
    """Seconds between the response and the next request on the connection."""


class SlicesOrderAsk(TypedDict):
    """Asks a contender between the requests of its load, on the load's own connections and as often as those are
    free: in its turns, and in no count of theirs. It is answered by an event while other orders are followed. Not
    where requests are pipelined, go over HTTP/2 or over connections that are not kept, or come from other
    machines.
    """

    contender: int
    """The contender's place in the job."""
    order: Literal["ask"]
    send: Send
    """What is sent, as in a session of `ask`; a lane is one of the load's connections."""


SlicesOrder: TypeAlias = SlicesOrderSlices | SlicesOrderAsk | SlicesOrderEnd
"""
One line of standard input. Orders queue up, so that the next can be sent before the last has ended. One that
cannot be read, or names a contender that the job has not, ends the job with exit code 2.
"""


class Journey(TypedDict):
    """A user's way through the service: requests one after the other on the same connection."""

    name: str
    """The name in the result."""
    steps: list[JourneyStep]
    """What is sent, in order."""
    weight: NotRequired[int]
    """The share of this journey in the mix."""


class Traffic(TypedDict):
    """A load without a length, CPUs and threads of its own: the fields of a load job that its turns leave open."""

    allow_hosts: NotRequired[list[str]]
    backend: NotRequired[BackendChoice]
    captured: NotRequired[dict[str, str]]
    connect_to: NotRequired[str | None]
    connections: NotRequired[int]
    first_counter: NotRequired[int]
    fresh: NotRequired[str | None]
    journeys: NotRequired[list[Journey]]
    keepalive: NotRequired[bool]
    loop: NotRequired[Steady]
    pacing_slot_s: NotRequired[float | None]
    pipeline: NotRequired[int]
    protocol: NotRequired[Protocol]
    repeat: NotRequired[bool]
    requests: NotRequired[list[Request]]
    requests_per_connection: NotRequired[int | None]
    rows: NotRequired[str | None]
    seed: NotRequired[int]
    sources: NotRequired[str | None]
    streams: NotRequired[int]
    timeout_s: NotRequired[float]
    tls: NotRequired[Tls]
    url: str
    watch: NotRequired[Watch | None]


class LoadJob(TypedDict):
    """One load: what is sent where, when, and for how long. More connections than one process may open files are
    spread over several processes, which share CPUs, rates and counts.
    """

    allow_hosts: NotRequired[list[str]]
    """Hosts outside this machine that may be loaded."""
    backend: NotRequired[BackendChoice]
    """Which kernel interface moves the bytes."""
    captured: NotRequired[dict[str, str]]
    """
    What was captured before the load, by name: `{capture.NAME}` stands for it, unless a step of the journey
    captures a value of that name.
    """
    connect_to: NotRequired[str | None]
    """
    `HOST:PORT` to connect to in place of the URL's. `Host` field, SNI and the certificate's name stay those of
    the URL.
    """
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
    """
    Machines that put the load on in place of this one, each an equal part of it. This engine leads: it divides
    connections, rates and counters exactly, fixes the first send on a common instant half a second ahead, moves
    every time by the distance of the two clocks, watches the server, and adds histograms and series. The job's
    `cpus` are then those of leading and watching. A generator that is lost ends the job with an error that names
    it.
    """
    give_up: NotRequired[bool]
    """
    Whether a request of an open loop that has waited for a connection for `timeout_s` is not sent any more: its
    client has given up. It counts as `unsent`.
    """
    journeys: NotRequired[list[Journey]]
    """Requests in order, in place of `requests`. They need a `pipeline` of 1."""
    keepalive: NotRequired[bool]
    """
    False: a connection for each request. It says `Connection: close`, and is closed with a reset, as all closing
    is done.
    """
    loop: NotRequired[Loop]
    """When requests are sent."""
    max_requests: NotRequired[int | None]
    """
    Ends the measured window after this many requests, if the duration has not ended it before. Warm-up comes on
    top.
    """
    pacing_slot_s: NotRequired[float | None]
    """
    Open loop: requests are sent at multiples of this many seconds, never early and at most one slot late, which
    saves wake-ups. 0 sends each when it is due. Null: 250 microseconds where more than one request is due in
    them, 0 where fewer are.
    """
    pipeline: NotRequired[int]
    """HTTP/1.1: requests in flight on one connection."""
    protocol: NotRequired[Protocol]
    """
    What is spoken. HTTP/2 begins with its own preface over `http://` (`h2c`, prior knowledge), and is agreed on
    by ALPN over `https://` (`h2`).
    """
    repeat: NotRequired[bool]
    """
    Whether an idempotent request is sent once more, on a new connection, where the server closed a kept
    connection under it without a byte of a response (RFC 9112 section 9.3.1). It counts as sent once, and as
    `repeated`.
    """
    requests: NotRequired[list[Request]]
    """
    The requests of the mix. If there are none, and no journeys: one GET of the URL's path that expects 200 to
    299.
    """
    requests_per_connection: NotRequired[int | None]
    """
    HTTP/1.1: requests that a connection carries; the next one then goes out on a new connection. Its handshakes
    are part of the latency in a closed loop. Null: any number.
    """
    rows: NotRequired[str | None]
    """A CSV or JSON lines file whose rows `{row.NAME}` takes values from."""
    seed: NotRequired[int]
    """Seed of all randomness in the job."""
    series_interval_s: NotRequired[float]
    """Length of one interval of the series."""
    sources: NotRequired[str | None]
    """
    An IPv4 network such as `127.0.0.0/8` over whose addresses the connections' sources are spread, 10,000 to
    each. Null: a loopback target of more than 10,000 connections gets as many of `127.0.0.0/8` as it needs,
    because the search for a free port turns quadratic.
    """
    streams: NotRequired[int]
    """
    HTTP/2: requests in flight on one connection, each on a stream of its own. A server may allow fewer; `http2`
    in the result says so.
    """
    tail: NotRequired[Tail | None]
    """
    Keeps the stamps of the slowest requests and of some at random, and what the server did meanwhile; needs
    `watch`.
    """
    threads: NotRequired[int]
    """Threads, each with its own sockets."""
    timeout_s: NotRequired[float]
    """A request without a complete response after this many seconds is given up; so is a connection attempt."""
    tls: NotRequired[Tls]
    """How TLS is done when the URL says https."""
    url: str
    """`http://HOST:PORT` or `https://HOST:PORT`; its path is used where a request names no target."""
    warmup_s: NotRequired[float]
    """Seconds of load before the measured window: at the first step's rate, or at a ramp's `from`."""
    watch: NotRequired[Watch | None]
    """The server's process tree, sampled on the clock of the latencies."""


class Contender(TypedDict):
    """A contender, and its load."""

    job: Traffic
    """Its load."""
    name: str
    """Its name in events and errors."""


class SlicesJob(TypedDict):
    """Several contenders that are loaded in turn, in slices of 100 to 500 ms as a rule, so that neighbouring slices
    meet the same machine. The engine opens connections to all of them, keeps them, and carries out the orders
    that come on standard input.
    """

    contenders: list[Contender]
    """Whom to load. Their names differ."""
    cpus: NotRequired[list[int] | None]
    """CPUs to pin the threads to, in turn; empty or absent: not pinned."""
    gap_s: NotRequired[float]
    """Seconds of rest after each slice, in which its server falls quiet."""
    generators: NotRequired[list[GeneratorNode]]
    """
    Machines that put the load on, in a process for each contender; if there are none, this one does. Every turn
    begins at an instant that all know beforehand, two round trips of settling ahead, 5 to 500 ms. Settling
    compares the clocks again: one that has moved by more than 5 ms ends the job with an error that names it, and
    so does a generator that is lost.
    """
    threads: NotRequired[int]
    """
    Threads of each contender's load. Its connections have to fit into the limit of open files: slices are not
    spread over processes, but on `generators`.
    """
