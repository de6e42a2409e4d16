"""What the engine says, as types: docs/engine-protocol.md is the reference. Seconds, bytes, counts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from touchstone.record.base import EngineRecord
from touchstone.record.connections import Connections, Sent
from touchstone.record.distribution import Distribution
from touchstone.record.events import Events
from touchstone.record.generator import Generator, GeneratorUse
from touchstone.record.load_1 import upgraded_load
from touchstone.record.other_process import OtherProcess, other_processes_field
from touchstone.record.secret import secrets_of_request, shown_job, shown_request, shown_text, without
from touchstone.record.tail import TailResult
from touchstone.record.watch import Watch


class Errors(EngineRecord):
    """Requests without a correct response, by class, counted exactly."""

    reset: int = 0
    closed_mid_response: int = 0
    closed_before_response: int = 0
    kept_connection_closed: int = 0
    """The server closed a kept connection without a byte of a response, and the request was not sent once more."""
    timeout: int = 0
    malformed: int = 0
    wrong_status: int = 0
    wrong_body: int = 0
    wrong_header: int = 0
    stream_reset: int = Field(default=0, exclude_if=lambda count: not count)
    """HTTP/2: the server gave up the request's stream (RST_STREAM)."""
    going_away: int = Field(default=0, exclude_if=lambda count: not count)
    """HTTP/2: the server went away (GOAWAY) without an answer to the request."""
    wrong_event: int = Field(default=0, exclude_if=lambda count: not count)
    """Streams with an event that was not as expected."""
    lost_event: int = Field(default=0, exclude_if=lambda count: not count)
    doubled_event: int = Field(default=0, exclude_if=lambda count: not count)
    disordered_event: int = Field(default=0, exclude_if=lambda count: not count)
    grpc_status: int = Field(default=0, exclude_if=lambda count: not count)
    """gRPC calls that ended with another status than expected."""


class Counts(EngineRecord):
    """Requests of the measured window: `sent` is `ok`, `wrong` and `failed` together."""

    sent: int = 0
    completed: int = 0
    """Whole responses: `ok` and `wrong`."""
    ok: int = 0
    wrong: int = 0
    failed: int = 0
    """Without a whole response."""
    unanswered: int = 0
    """Passes of `failed` that were in flight when the job was interrupted."""
    repeated: int = Field(default=0, exclude_if=lambda count: not count)
    """Sent once more, on a new connection: the server had closed a kept one under them without a byte, or declared them
    unprocessed (HTTP/2)."""
    unsent: int | None = None
    """Due within the window, and never sent."""
    outstanding_at_start: int = 0
    """Requests of the warm-up that had no response when the window began."""
    errors: Errors = Errors()
    status: dict[str, int] = {}

    @property
    def not_right(self) -> int:
        """Requests without a correct response: wrong and failed ones. Never connections."""
        return self.wrong + self.failed

    @property
    def error_share(self) -> float:
        """The share of the requests sent that had no correct response; 0 if none was sent."""
        return self.not_right / self.sent if self.sent else 0.0


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

    @property
    def watched_s(self) -> float:
        """For how long the machine was watched: until the last answer has come, which an overloaded server puts off."""
        return self.measured_s + self.drain_s

    @property
    def whole_s(self) -> float:
        """Seconds of the whole job, warm-up included."""
        return self.warmup_s + self.watched_s


class Rate(EngineRecord):
    """Requests a second: what was asked (open loop), and what was answered correctly."""

    offered: float | None = None
    achieved: float = 0.0


class Silence(EngineRecord):
    """Where no response came at all, in gaps of 50 ms and more."""

    seconds: float = 0.0
    longest_s: float = 0.0
    longer: list[tuple[float, float]] = Field(default=[], exclude_if=lambda pairs: not pairs)
    """Pairs of a length, and the sum of all gaps of at least that length; empty if not measured."""
    deaf_s: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """How long the generator waited for a CPU within gaps, which is taken off them.

    None where it is in them still, since the kernel did not tell it or the engine did not ask.
    """


class DelayedResponses(EngineRecord):
    """Responses delayed while other connections were served. They took at least 20 ms and ten times the median."""

    answers: int = 0
    seconds: float = 0.0
    """Sum over all of them, without the time in which no response came at all."""
    longest_s: float = 0.0
    connections: int | None = None
    """How many connections had such a response; None where each request has a connection of its own."""


class ResponsesByConnection(EngineRecord):
    """How right responses were spread over the connections of a closed loop, exact to 1 %."""

    median: int = 0
    """What the connection in the middle got."""
    fewest: int = 0
    behind: int = 0
    """How many connections got less than half of the median."""
    share: float = 0.0
    """The share of all right responses that these got."""


class ByteCounts(EngineRecord):
    """Bytes on the wire and in bodies."""

    sent: int = 0
    received: int = 0
    body: int = 0


class Negotiated(EngineRecord):
    """What handshakes agreed on."""

    version: str
    cipher: str
    group: str | None = None
    alpn: str | None = None
    handshakes: int


class TlsUse(EngineRecord):
    """Handshakes of the whole job."""

    full: int
    resumed: int
    negotiated: list[Negotiated] = []


class Http2Use(EngineRecord):
    """What was done over HTTP/2 in the whole job."""

    streams_allowed: int | None = None
    """The fewest streams that the server allowed, where that was fewer than asked."""
    at_stream_limit: int = 0
    """Requests that took the last stream allowed."""
    going_away: int = 0
    unprocessed: int = 0


class FirstError(EngineRecord):
    """One of the first errors of its class, kept as evidence."""

    class_: str = Field(alias="class")
    t: float = 0.0
    request: Annotated[str, AfterValidator(shown_text)] = ""
    sent: Annotated[str, AfterValidator(shown_request)] = ""
    received: str = ""
    why: str = ""

    @model_validator(mode="before")
    @classmethod
    def _hide_what_is_echoed(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        secrets = secrets_of_request(data.get("sent") or "")
        return data | {key: without(data[key], secrets) for key in ("received", "why") if data.get(key)}


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


class StepRequest(EngineRecord):
    """One request of the mix in one step of a load."""

    name: Annotated[str, AfterValidator(shown_text)]
    sent: int = 0
    ok: int = 0
    errors: int = 0
    latency: Distribution = Distribution()


class LoadStep(EngineRecord):
    """One rate of a stepped load."""

    rate: float
    seconds: float
    achieved: float
    sent: int = 0
    ok: int = 0
    errors: int = 0
    latency: Distribution = Distribution()
    requests: list[StepRequest] = Field(default=[], exclude_if=lambda requests: not requests)
    """The same of each request of the mix; empty in records of engines that did not count them."""


class Machine(EngineRecord):
    """What else used the machine within the measured window, in CPU seconds."""

    steal_s: float | None = None
    other_cpu_s: float | None = None
    """CPU of processes that are neither engine nor server, nor a dependency of `dependencies_cpu_s`."""
    other_processes: list[OtherProcess] = other_processes_field()
    """Those of these processes that used most, the largest first."""
    dependencies_cpu_s: dict[str, float] | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """CPU of each dependency that has its own processes; None if there are none, or not measured."""
    swapped_pages: int | None = None
    """In and out, of the whole machine."""
    sent: Sent | None = Field(default=None, exclude_if=lambda sent: sent is None)


class MediaTypeCount(EngineRecord):
    """How many responses had a status and a media type."""

    status: int
    media_type: str | None = None
    """In lower case, without parameters; None where the response said none."""
    responses: int = 0


class SplitResponses(EngineRecord):
    """Responses of which a part came later than the first. The engine acknowledged the first part of a few at once, as
    a trial.
    """

    responses: int = 0
    """Without the trials."""
    long: int = 0
    """Responses whose rest came 20 ms or more after the first part."""
    seconds: float = 0.0
    """From the first part to the end, of those, summed."""
    trials: int = 0
    """Trials, including those of the warm-up."""
    trials_long: int = 0


class RequestResult(EngineRecord):
    """One request of the mix."""

    name: Annotated[str, AfterValidator(shown_text)]
    sent: int = 0
    ok: int = 0
    errors: int = 0
    latency: Distribution = Distribution()
    media_types: list[MediaTypeCount] = Field(default=[], exclude_if=lambda types: not types)
    """The most frequent first; empty in records of engines that did not look."""
    in_parts: SplitResponses | None = Field(default=None, exclude_if=lambda parts: parts is None)
    """None where every response came whole."""
    events: Events | None = Field(default=None, exclude_if=lambda events: events is None)
    """None where the responses are not streams."""


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
    """Passes through one journey that ended in the window. How long those took that went through, pauses included."""

    name: str
    completed: int = 0
    failed: int = 0
    duration: Distribution = Distribution()


class LoadResult(EngineRecord):
    """The whole result of `touchstone-engine load`."""

    schema_: str = Field(default="touchstone.load/2", alias="schema")
    engine: EngineIdentity = EngineIdentity()
    job: Annotated[dict[str, Any], AfterValidator(shown_job)] = Field(default={}, exclude_if=lambda job: not job)
    """As it was given to the engine; a sample has the load's specification in place of it."""
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
    held_up: DelayedResponses | None = Field(default=None, exclude_if=lambda held: held is None)
    """None in records of engines that did not count it."""
    by_connection: ResponsesByConnection | None = Field(default=None, exclude_if=lambda spread: spread is None)
    """None in an open loop, without keep-alive, and in records of engines that did not count it."""
    latency: Distribution = Distribution()
    service: Distribution = Distribution()
    connect: Distribution = Distribution()
    lateness: Distribution = Distribution()
    queue: QueueResult | None = None
    """None in a closed loop, which has none."""
    connections: Connections = Connections()
    tls: TlsUse | None = Field(default=None, exclude_if=lambda use: use is None)
    """None without TLS."""
    http2: Http2Use | None = Field(default=None, exclude_if=lambda use: use is None)
    """None over HTTP/1.1."""
    events: Events | None = Field(default=None, exclude_if=lambda events: events is None)
    """None where no response is a stream."""
    generator: Generator = Generator()
    generators: list[GeneratorUse] = Field(default=[], exclude_if=lambda parts: not parts)
    """Each generator's part, if the load came from other machines."""
    joining_cpu_s: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """CPU seconds that what joins the machines used on the server's, over the whole job; set by touchstone."""
    first_errors: list[FirstError] = []
    series: list[Point] = []
    steps: list[LoadStep] = []
    watch: Watch | None = None
    tail: TailResult | None = Field(default=None, exclude_if=lambda tail: tail is None)
    """None unless it was asked for; a sample has it in its own evidence."""
    machine: Machine = Machine()

    @model_validator(mode="before")
    @classmethod
    def _upgrade(cls, data: Any) -> Any:
        return upgraded_load(data) if isinstance(data, dict) and isinstance(data.get("counts"), dict) else data

    @property
    def is_of_older_engine(self) -> bool:
        """Whether its series' errors include connections' and its counts are exact except at the edges."""
        return self.schema_ == "touchstone.load/1"
