"""The loads of a scenario: what is sent, how, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr, model_validator

from touchstone.manifest.contract import Act, Proof, Send
from touchstone.manifest.disturbance import Disturbance, misplaced
from touchstone.manifest.mix import Mix
from touchstone.manifest.spoken import ProtocolKeys

Profile = Literal["quick", "normal", "thorough"]


class Load(Mix, ProtocolKeys):
    """One load: what is sent, how, and for how long."""

    title: str
    """Its title in the report."""
    about: str = ""
    """A description for the reader of the report."""
    loop: Literal["closed", "open", "steps", "ramp"] = "closed"
    """When requests are sent: `closed`, each connection's next one when its last is answered; `open`, at `rate`
    whatever comes back; `steps`, at rates from a tenth of `rate` up to it; `ramp`, at a rate that grows evenly from a
    tenth of `rate` up to it."""
    connections: Annotated[int, Field(ge=1)] = 64
    """How many connections are open at a time."""
    rate: Annotated[float, Field(gt=0)] | None = None
    """Requests per second of an open loop, and the highest of `steps` and a `ramp`; these three need it, and a closed
    loop has none."""
    steps: Annotated[int, Field(ge=2)] | None = None
    """How many rates `loop = "steps"` goes through; that loop needs it, and no other has it."""
    arrivals: Literal["uniform", "poisson"] = "uniform"
    """How requests that are due at a rate follow each other: at equal distances, or at random ones as independent users
    arrive. A closed loop has none."""
    pipeline: Annotated[int, Field(ge=1)] = 1
    """How many requests a connection sends before it waits for a response. Above 1 it needs `requests` and
    `keepalive`."""
    streams: Annotated[int, Field(ge=1)] = 1
    """How many requests are under way at a time on each connection of `h2c` or `h2`. Journeys have one."""
    keepalive: bool = True
    """Whether connections are kept; if not, each request opens one of its own."""
    requests_per_connection: Annotated[int, Field(ge=1)] | None = None
    """After how many requests a connection of HTTP/1.1 is closed and another one opened; never, if it is left out.
    It needs `keepalive` and a pipeline of 1, and `requests`."""
    repeat: bool = True
    """Whether a request that may be sent twice (GET, HEAD, OPTIONS, TRACE, PUT, DELETE) is sent once more, on a new
    connection, where the server closed a kept one under it without a byte of a response, as clients do. If not, it has
    failed, as others have there."""
    timeout_s: Annotated[float, Field(gt=0)] = 5.0
    """Seconds after which a request without a complete response has failed; of a stream, the wait for each event."""
    seconds: Annotated[float, Field(gt=0)] | None = None
    """The measured time in seconds, in place of the preset's; with `--quick` at most the preset's. Each contender's
    turns in a round add up to it; `--until-decided` and `--minutes` choose the number of turns themselves."""
    warmup_s: Annotated[float, Field(ge=0)] | None = None
    """The time before it in seconds, in place of the preset's; with `--quick` at most the preset's. In turns it is
    the least, since they go on until the rate is flat; half of it if the process has already served another load."""
    idle_s: Annotated[float, Field(ge=0)] = 0.0
    """For how many seconds memory is watched after the load; with `--quick` at most 2."""
    whole_windows: bool = False
    """Whether each contender is loaded by itself, in a whole window, and not in slices: for a load whose last responses
    take far longer than a turn, since each turn would wait for them."""
    profiles: list[Profile] = ["quick", "normal", "thorough"]
    """The profiles in which this load is run."""
    exhibit: str | None = None
    """If this load holds a defect on purpose: which, in a sentence. It is run with `--exhibits` alone, or by its
    name."""
    error_allowance: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The share of requests that may fail before the result is invalid: 0.01 is 1 %."""
    memory_limit_mb: Annotated[int, Field(ge=1)] | None = None
    """How much memory the contender may use under this load, in MiB, by its cgroup; as much as there is if it is left
    out."""
    cpus: Annotated[float, Field(ge=0.01, le=1024)] | None = None
    """How many CPUs' time the contender may use under this load, by its cgroup, such as 0.5; all of those that it is
    bound to if it is left out."""
    dependency_settings: dict[str, dict[str, str | int | bool]] = {}
    """Settings of dependencies that differ under this load, by the dependency's name."""
    prepare: list[Send | Act] = []
    """Requests, and acts on dependencies, before the load and outside every figure."""
    proofs: list[Proof] = []
    """Questions to dependencies, asked after the load."""
    disturb: list[Disturbance] = []
    """Faults of dependencies while the load runs. Such a load belongs to the phase `disturb` alone; it needs an open
    loop and `seconds`, which hold in every preset."""
    _captured: Mapping[str, str] = PrivateAttr(default_factory=dict)

    @property
    def captured(self) -> Mapping[str, str]:
        """What its preparation has captured at one service, by name: `{capture.NAME}` stands for it."""
        return self._captured

    def with_captured(self, values: Mapping[str, str]) -> Load:
        """The load as it is put on a service whose preparation has captured these values."""
        load = self.model_copy()
        load._captured = dict(values)
        return load

    @model_validator(mode="after")
    def _pipeline_fits(self) -> Load:
        if self.journeys and self.pipeline > 1:
            raise ValueError("journeys need a pipeline of 1: a request waits for what the one before it captures")
        if self.pipeline > 1 and not self.keepalive:
            raise ValueError("a pipeline above 1 needs `keepalive`: without it, a connection has one request")
        if self.pipeline > 1 and any(request.stream for request in self.all_requests):
            raise ValueError("a stream needs a pipeline of 1: a request behind it would wait for its end")
        return self

    @model_validator(mode="after")
    def _connections_fit(self) -> Load:
        if self.requests_per_connection is None:
            return self
        if not self.keepalive:
            raise ValueError("`requests_per_connection` needs `keepalive`: without it, a connection has one request")
        if self.pipeline > 1 or self.journeys:
            raise ValueError("`requests_per_connection` needs a pipeline of 1 and `requests`: leave it out")
        if self.protocol != "h1":
            raise ValueError("`requests_per_connection` belongs to HTTP/1.1: connections of HTTP/2 are kept")
        return self

    @model_validator(mode="after")
    def _protocol_fits(self) -> Load:
        if self.protocol == "h1" and self.streams > 1:
            raise ValueError('streams belong to HTTP/2: set `protocol = "h2c"` or "h2", or leave `streams` out')
        if self.protocol != "h1" and self.pipeline > 1:
            raise ValueError("a pipeline belongs to HTTP/1.1: over HTTP/2 set `streams`")
        if self.protocol != "h1" and not self.keepalive:
            raise ValueError("connections of HTTP/2 are kept: leave `keepalive` out")
        if self.journeys and self.streams > 1:
            raise ValueError("journeys need one stream: a request waits for what the one before it captures")
        return self

    @model_validator(mode="after")
    def _websocket_is_over_http_1(self) -> Load:
        if self.has_messages and self.protocol != "h1":
            raise ValueError("a WebSocket is opened over HTTP/1.1: leave `protocol` out")
        return self

    @model_validator(mode="after")
    def _grpc_is_over_http_2(self) -> Load:
        sent = [*self.all_requests, *(step for step in self.prepare if isinstance(step, Send))]
        if self.protocol == "h1" and any(request.grpc for request in sent):
            raise ValueError('gRPC needs HTTP/2: set `protocol = "h2c"`, or "h2" over TLS')
        return self

    @model_validator(mode="after")
    def _faults_fit(self) -> Load:
        named = [name for proof in self.proofs for name in proof.requests]
        if not self.disturb:
            if named:
                raise ValueError("`requests` of a proof belongs to loads with `disturb`: leave it out")
            return self
        names = [request.name for request in self.requests]
        for name in named:
            if name not in names:
                raise ValueError(f"a proof counts the request {name!r}, and there are: {', '.join(names)}")
        if self.loop != "open":
            raise ValueError('`disturb` needs `loop = "open"` and a `rate`: other loops send less while they wait')
        if self.seconds is None:
            raise ValueError("`disturb` needs `seconds`, the measured time within which the faults are")
        if self.journeys or self.protocol != "h1":
            raise ValueError("`disturb` needs `requests` over HTTP/1.1: each is tried alone, to see its dependencies")
        if wrong := "; ".join(misplaced(self.disturb, self.seconds)):
            raise ValueError(f"`disturb`: {wrong}")
        return self

    @model_validator(mode="after")
    def _loop_has_its_rate(self) -> Load:
        if self.loop == "closed" and self.rate is not None:
            raise ValueError("a closed loop has no rate: leave `rate` out or set loop to open")
        if self.loop == "closed" and "arrivals" in self.model_fields_set:
            raise ValueError("a closed loop has no arrivals: leave `arrivals` out or set loop to open")
        if self.loop != "steps" and self.steps is not None:
            raise ValueError(f"loop {self.loop!r} has no steps: leave `steps` out, or set loop to steps")
        if self.loop != "closed" and self.rate is None:
            raise ValueError(f"loop {self.loop!r} needs `rate`, in requests per second")
        if self.loop == "steps" and self.steps is None:
            raise ValueError("loop 'steps' needs `steps`, the number of rates")
        return self
