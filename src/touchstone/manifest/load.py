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
    """When requests are sent. `closed`: each connection sends its next request after the response to its last one.
    `open`: at `rate`, independent of responses. `steps`: at several rates from a tenth of `rate` up to `rate`. `ramp`:
    at a rate that grows evenly from a tenth of `rate` up to `rate`."""
    connections: Annotated[int, Field(ge=1)] = 64
    """The number of open connections."""
    rate: Annotated[float, Field(gt=0)] | None = None
    """Requests per second of an open loop, and the highest rate of `steps` and `ramp`. These three loops need it; a
    closed loop must not have it."""
    steps: Annotated[int, Field(ge=2)] | None = None
    """The number of rates of `loop = "steps"`, which needs it. No other loop has it."""
    arrivals: Literal["uniform", "poisson"] = "uniform"
    """The intervals between requests at a rate: equal, or random as with independent users. A closed loop has no
    arrivals."""
    pipeline: Annotated[int, Field(ge=1)] = 1
    """How many requests a connection sends before it waits for a response. Above 1 it needs `requests` and
    `keepalive`."""
    streams: Annotated[int, Field(ge=1)] = 1
    """The number of requests in flight on each connection of `h2c` or `h2`. A journey has one."""
    keepalive: bool = True
    """Whether connections are kept open. If not, each request opens a new one."""
    requests_per_connection: Annotated[int, Field(ge=1)] | None = None
    """The number of requests after which an HTTP/1.1 connection is closed and another one opened; by default never. It
    needs `requests`, `keepalive` and a pipeline of 1."""
    repeat: bool = True
    """Whether a request that may be sent twice (GET, HEAD, OPTIONS, TRACE, PUT, DELETE) is sent again on a new
    connection, if the server closed a kept connection before any byte of the response. Clients do the same. If false,
    or with other methods, the request has failed."""
    timeout_s: Annotated[float, Field(gt=0)] = 5.0
    """Seconds after which a request without a complete response has failed; in a stream, the limit for each event."""
    seconds: Annotated[float, Field(gt=0)] | None = None
    """The measured time in seconds instead of the preset's; with `--quick` at most the preset's. The slices of a
    contender in a round add up to it. With `--until-decided` and `--minutes`, touchstone chooses the number of
    slices."""
    warmup_s: Annotated[float, Field(ge=0)] | None = None
    """The warm-up in seconds instead of the preset's; with `--quick` at most the preset's. In slices it is the
    minimum, because the warm-up continues until the rate is stable. If the process has already served another load,
    half of it is the minimum."""
    idle_s: Annotated[float, Field(ge=0)] = 0.0
    """Seconds for which memory is observed after the load; with `--quick` at most 2."""
    whole_windows: bool = False
    """Whether each contender is loaded alone in a whole window instead of slices. Use it if responses take much longer
    than a slice, because each slice would wait for its last responses."""
    profiles: list[Profile] = ["quick", "normal", "thorough"]
    """The presets in which this load runs."""
    exhibit: str | None = None
    """For a load with a deliberate defect: a sentence about the defect. The load runs only with `--exhibits` or by its
    name."""
    error_allowance: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The share of requests that may fail before the result is invalid: 0.01 is 1 %."""
    memory_limit_mb: Annotated[int, Field(ge=1)] | None = None
    """The memory limit of the contender's cgroup under this load, in MiB; by default none."""
    cpus: Annotated[float, Field(ge=0.01, le=1024)] | None = None
    """The CPU limit of the contender's cgroup under this load, such as 0.5; by default all CPUs that it is bound
    to."""
    dependency_settings: dict[str, dict[str, str | int | bool]] = {}
    """Settings of dependencies that differ under this load, by the dependency's name."""
    prepare: list[Send | Act] = []
    """Requests, and acts on dependencies, before the load. They are not part of any figure."""
    proofs: list[Proof] = []
    """Questions to dependencies, asked after the load."""
    disturb: list[Disturbance] = []
    """Faults of dependencies while the load runs. Such a load belongs only to the phase `disturb`. It needs an open
    loop and `seconds`, which apply in every preset."""
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
        sent = [*self.all_requests, *(step for step in self.prepare if isinstance(step, Send))]
        if self.protocol != "h1" and any(request.websocket for request in sent):
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
