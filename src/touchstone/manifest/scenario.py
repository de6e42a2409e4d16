"""scenario.toml: a service contract and the loads put on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from touchstone.manifest.base import DocumentedAs, ManifestModel, Name
from touchstone.manifest.contract import Check, Send
from touchstone.manifest.exchange import MessageRequest, Request
from touchstone.manifest.load import Load
from touchstone.manifest.objective import parse_objective
from touchstone.manifest.spoken import Label, Protocol, ProtocolKeys, spoken_by_all
from touchstone.manifest.stop import Stop, stop_loads
from touchstone.vocabulary.dependency import DEPENDENCIES

Setting = str | int | bool
"""A value that a contender gets in its environment."""


GIVEN = ("HOST", "PORT")
"""Environment variables in which touchstone gives a contender its address."""
GRPC_PORT = "GRPC_PORT"
"""A further one, for variants with a `grpc_port`."""
EnvironmentName = Annotated[str, Field(pattern=r"^[^=\x00]+$")]


class DependencySpec(ManifestModel):
    """A program or file that the service uses. touchstone makes it fresh in each round and passes its address in
    `env`.
    """

    kind: str
    """The kind, such as `postgres`; docs/dependencies.md lists them."""
    env: str
    """The environment variable through which the service learns the address."""
    variables: dict[EnvironmentName, str] = {}
    """Further environment variables for the service, made of the address's parts: `{ DB_PORT = "{port}" }`."""
    settings: dict[str, Any] = {}
    """Settings that are equal for all contenders. Each kind of dependency has its own."""

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
        if kind not in DEPENDENCIES:
            raise ValueError(
                f"there is no kind of dependency {kind!r}; there are: {', '.join(DEPENDENCIES)}; "
                'write kind = "process" for any other program; see docs/dependencies.md'
            )
        return kind

    @property
    def gives(self) -> tuple[str, ...]:
        """The names of all variables that a service gets from it."""
        return self.env, *self.variables


class Hold(ManifestModel):
    """Memory against the number of open connections."""

    request: MessageRequest
    """The request that each connection sends. With `websocket`, connections are WebSockets, which are idle once they
    are open; in the mode `traffic`, messages are sent over them."""
    levels: list[int]
    """Numbers of connections at which memory is read: two or more, because memory per connection is the slope between
    them."""
    large_levels: list[int] = []
    """Levels above one process's limit of open files, only for `--phase hold --large`."""
    large_settings: dict[str, Setting] = {}
    """Environment variables for all contenders at `large_levels`, such as a longer idle timeout: opening the
    connections may take longer than the usual one."""
    modes: list[Literal["idle", "traffic"]] = ["idle"]
    """Whether the connections are idle after their first response, or send further requests."""

    @model_validator(mode="after")
    def _is_measured(self) -> Hold:
        if len(self.levels) == 1:
            raise ValueError("`levels` has one level, and what a connection takes is the slope between two: add one")
        if self.large_settings and not self.large_levels:
            raise ValueError("`large_settings` are for `large_levels`, and there are none: leave them out, or add some")
        return self


class Drain(ManifestModel):
    """A pre-filled topic that the service drains with one downstream call per message."""

    dependency: Name
    """The dependency of kind `kafka` that holds the messages."""
    downstream: Name
    """The dependency of kind `echo` that logs the message ids: order and completeness are proven from its log."""
    messages: list[Annotated[int, Field(ge=10)]]
    """Numbers of messages; each is a separate measurement."""
    thorough_messages: list[Annotated[int, Field(ge=10)]] = []
    """Numbers of messages that are drained only in the preset `thorough`."""
    exhibit_spreads: list[Literal["keyless", "skewed"]] = []
    """Unequal distributions of the messages over partitions, drained only with `--exhibits`, next to the equal
    distribution."""
    stats_target: str = "/stats"
    """The path at which the service reports its own counts. They are kept next to the proof but never used in a
    figure."""
    within_s: Annotated[float, Field(gt=0)] = 300.0
    """Seconds after which a topic that is not drained counts as failed."""


class Bounds(ManifestModel):
    """What a server allows one connection and one request: idle times, responses, the size of a request's head."""

    request: Request
    """The request that is sent, made larger step by step. It has no body."""
    watch_s: Annotated[float, Field(gt=0, le=3600)] = 90.0
    """Seconds for which quiet connections are observed. A longer idle timeout counts as none."""
    responses: Annotated[int, Field(ge=1, le=1_000_000)] = 2000
    """The number of requests on one connection."""

    @model_validator(mode="after")
    def _request_is_a_head(self) -> Bounds:
        for name in ("body", "grpc"):
            if getattr(self.request, name) is not None:
                raise ValueError(f"`bounds` sends a head over HTTP/1.1 and nothing else: leave `{name}` out")
        return self


class Floor(ManifestModel):
    """The search for the smallest memory limit that is enough."""

    load: Name
    """The name of the load to run under each limit."""
    share_of_unlimited: Annotated[float, Field(gt=0, le=1)] = 0.9
    """A limit is enough if the contender keeps this share of its unlimited rate."""
    objective: str | None = None
    """A further condition under the limit, such as `p99 < 50ms`."""
    from_mb: Annotated[int, Field(ge=1)] = 4
    """The smallest limit that is tried, in MiB."""
    to_mb: Annotated[int, Field(ge=1)] = 1024
    """The largest limit that is tried, in MiB."""

    @field_validator("objective")
    @classmethod
    def _readable(cls, objective: str | None) -> str | None:
        return objective and parse_objective(objective).text

    @model_validator(mode="after")
    def _has_a_range(self) -> Floor:
        if self.from_mb >= self.to_mb:
            raise ValueError(f"`from_mb` {self.from_mb} is not below `to_mb` {self.to_mb}: no limit lies between")
        return self


class Peak(ManifestModel):
    """The start under load, from exec on."""

    load: Name
    """The name of the load. Its loop must be closed, so that the rate follows the contender, which is slow at
    first."""


class Capacity(ManifestModel):
    """The highest rate at which an objective holds."""

    objective: str
    """Upper bounds that must hold together, such as `p99 < 50ms, errors < 0.1%`."""
    loads: list[Name] = []
    """The loads whose highest rate is searched; by default all loads of the run."""
    deadline_ms: Annotated[float, Field(gt=0, le=60_000)] | None = None
    """The time after which a client gives up on a response. With it, each round ends with a burst beyond the capacity,
    and the load after it.
    """
    smallest_burst: bool = False
    """Search the shortest burst of twice the capacity from which a service does not return by itself, for each service
    that does not return from the whole burst. Needs `deadline_ms`."""

    @model_validator(mode="after")
    def _bursts_have_a_deadline(self) -> Capacity:
        if self.smallest_burst and self.deadline_ms is None:
            raise ValueError("`smallest_burst` is searched with clients that give up: add `deadline_ms`")
        return self

    @field_validator("objective")
    @classmethod
    def _readable(cls, objective: str) -> str:
        return parse_objective(objective).text

    def searched(self, loads: Mapping[str, Load]) -> dict[str, Load]:
        """The named loads among these; all of them if none of the named is there.

        An objective on events of streams leaves out loads without streams.
        """
        named = {name: loads[name] for name in self.loads if name in loads} or dict(loads)
        if parse_objective(self.objective).of_streams is None:
            return named
        return {name: load for name, load in named.items() if load.is_streamed}

    def refuse_without_streams(self, loads: Mapping[str, Load]) -> None:
        """Raise ValueError where an objective on streams is for a load that has none."""
        quantity = parse_objective(self.objective).of_streams
        without = [name for name in self.loads if name in loads and not loads[name].is_streamed]
        if quantity is not None and (without or not self.searched(loads)):
            what = f"the load {without[0]} has" if without else "the loads have"
            raise ValueError(f"capacity.objective bounds {quantity}, and {what} no `stream`: leave that bound out")


Target = Annotated[str, StringConstraints(pattern=r"^/[!-~]*$"), DocumentedAs("path", "paths")]
"""A request target: a path, with its query if it has one."""


class ProbePost(ManifestModel):
    """A resource that takes a body by POST. Without one, content is sent with GET, and some cases are left out."""

    target: Target
    """The path of that resource, with its query if it has one."""
    body: Annotated[str, Field(min_length=1, max_length=16384)] | None = None
    """A body that it takes; `hello` is sent if it is left out."""
    content_type: str | None = None
    """The media type of that body, such as `application/json`."""
    headers: dict[str, str] = {}
    """Header fields of requests with content, next to those of all requests."""


class Probe(ManifestModel):
    """The HTTP conformance probe."""

    target: Target
    """The path of a resource that answers GET with 2xx."""
    protocols: list[Label] = []
    """What is probed: `h1`, `h1-tls`, `h2c`, `h2`; the scenario's own protocol, if it is left out. A contender is
    probed in those that it speaks (`speaks` in stack.toml)."""
    headers: dict[str, str] = {}
    """Header fields of every request, such as `Authorization`."""
    post: ProbePost | None = None
    """A resource that accepts content. Without it, the cases that need one are left out."""

    @field_validator("protocols")
    @classmethod
    def _each_once(cls, protocols: list[Label]) -> list[Label]:
        if twice := {one for one in protocols if protocols.count(one) > 1}:
            raise ValueError(f"a protocol is named twice: {', '.join(sorted(twice))}")
        return protocols


class Ready(MessageRequest):
    """The request whose correct response means that the service has started. It takes no placeholder but
    `{env.NAME}`. With `websocket` it is the message that comes back.
    """

    within_s: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """The longest start in seconds. A service without a correct response within this time has failed."""


class Scenario(ProtocolKeys):
    """The whole of scenario.toml."""

    schema_: Literal[1] = Field(alias="schema")
    """The format version of this file."""
    name: Name
    """The scenario's name. Each of its stacks states it as `scenario`."""
    title: str
    """Its title in lists and reports."""
    summary: str
    """What the service does, for the reader of the report."""
    version: int = 1
    """Raised with every change that makes new results incomparable to older ones."""
    settings: dict[str, Setting] = {}
    """Environment variables that are equal for all contenders: pool sizes, timeouts, durability. `{cpus}` in a text is
    the contender's number of CPUs."""
    ready: Ready
    """The request whose correct response means that the service has started."""
    dependencies: dict[Name, DependencySpec] = {}
    """The dependencies that the service uses, each under a name of your choice."""
    contract: list[Check]
    """What every contender must do before anything is timed."""
    loads: Annotated[dict[Name, Load], Field(min_length=1)]
    """The loads, each under a name of your choice."""
    hold: Hold | None = None
    """For the phase `hold`, which is left out without it."""
    drain: Drain | None = None
    """For the phase `drain`, which is left out without it."""
    floor: Floor | None = None
    """For the phase `floor`, which is left out without it."""
    peak: Peak | None = None
    """For the phase `peak`, which is left out without it."""
    capacity: Capacity | None = None
    """For the phase `capacity`, which is left out without it."""
    stop: Stop | None = None
    """For the phase `stop`, which is left out without it."""
    bounds: Bounds | None = None
    """For the phase `bounds`, which is left out without it."""
    probe: Probe | None = None
    """For the phase `probe`, which is left out without it."""
    baseline: Name | None = None
    """The stack that the others are compared with; the first by name if it is left out."""

    @property
    def loads_of_phases(self) -> set[str]:
        """The loads that a phase's own table names."""
        named = [self.floor and self.floor.load, self.peak and self.peak.load]
        named += [name for _, name in stop_loads(self.stop)] if self.stop else []
        return {name for name in named if name}

    def contract_over(self, protocol: Protocol) -> list[Check]:
        """The checks that can be made in a protocol."""
        return [check for check in self.contract if check.is_over(protocol)]

    @model_validator(mode="before")
    @classmethod
    def _loads_speak_the_same(cls, data: Any) -> Any:
        return spoken_by_all(data)

    @model_validator(mode="after")
    def _names_fit(self) -> Scenario:
        ids = [check.id for check in self.contract]
        twice = {i for i in ids if ids.count(i) > 1}
        if twice:
            raise ValueError(f"contract ids stand twice: {', '.join(sorted(twice))}")
        if self.floor and self.floor.load not in self.loads:
            raise ValueError(f"floor.load {self.floor.load!r} is none of the loads")
        if self.peak and self.peak.load not in self.loads:
            raise ValueError(f"peak.load {self.peak.load!r} is none of the loads")
        if self.peak and self.loads[self.peak.load].loop != "closed":
            raise ValueError(f"peak.load {self.peak.load!r} has no closed loop: a rate would hide how fast it gets")
        for key, name in stop_loads(self.stop) if self.stop else ():
            if name is not None:
                self._stops_under(f"stop.{key}", name)
        for name in self.capacity.loads if self.capacity else []:
            if name not in self.loads:
                raise ValueError(f"capacity.loads: {name!r} is none of the loads")
        if self.capacity:
            self.capacity.refuse_without_streams(self.loads)
        return self

    @model_validator(mode="after")
    def _websockets_are_over_http_1(self) -> Scenario:
        if self.hold and self.hold.request.websocket and (self.protocol != "h1" or self.tls):
            raise ValueError("hold.request: WebSockets are held over HTTP/1.1 without TLS: leave `websocket` out")
        if self.ready.websocket and self.protocol != "h1":
            raise ValueError("ready: a WebSocket is opened over HTTP/1.1: leave `websocket` or `protocol` out")
        open_over = {one.protocol for one in (self, *self.loads.values())}
        if "h1" not in open_over and (sockets := [one.id for one in self.contract if not one.is_over("h2c")]):
            raise ValueError(
                f"the check {sockets[0]} opens a WebSocket, over HTTP/1.1, and everything speaks HTTP/2: "
                'set `protocol = "h1"` at the top or in a load'
            )
        return self

    @model_validator(mode="after")
    def _grpc_is_over_http_2(self) -> Scenario:
        steps = [step for check in self.contract for step in check.steps if isinstance(step, Send)]
        own = self.ready.grpc or (self.hold and self.hold.request and self.hold.request.grpc)
        if own and self.protocol == "h1":
            raise ValueError('gRPC needs HTTP/2: set `protocol = "h2c"` at the top, or "h2" over TLS')
        calls = [step.grpc for step in steps if step.grpc is not None]
        if calls and all(one.protocol == "h1" for one in (self, *self.loads.values())):
            raise ValueError(
                f"the contract calls {calls[0]} by gRPC, which needs HTTP/2, and everything speaks HTTP/1.1: "
                'set `protocol` to "h2c" or "h2", at the top or in a load'
            )
        return self

    @model_validator(mode="after")
    def _faults_can_be(self) -> Scenario:
        for name, load in self.loads.items():
            for number, one in enumerate(load.disturb):
                key = f"loads.{name}.disturb.{number}"
                if (spec := self.dependencies.get(one.dependency)) is None:
                    known = ", ".join(self.dependencies) or "none"
                    raise ValueError(f"{key}: there is no dependency {one.dependency!r}; there are: {known}")
                if one.act not in (faults := DEPENDENCIES[spec.kind].faults):
                    raise ValueError(
                        f"{key}: a dependency of kind {spec.kind} has no {one.act!r}; it has: {', '.join(faults)}"
                    )
        for name in sorted(self.loads_of_phases.union(self.capacity.loads if self.capacity else [])):
            if self.loads[name].disturb:
                raise ValueError(
                    f"load {name!r} has faults, and belongs to the phase `disturb`: name another one for other phases"
                )
        return self

    def _stops_under(self, key: str, name: str) -> None:
        if (load := self.loads.get(name)) is None:
            raise ValueError(f"{key} {name!r} is none of the loads")
        if load.journeys:
            raise ValueError(f"{key} {name!r} has journeys, and a stop sends single requests: name another load")
        streams = [one.stream is not None or one.websocket is not None for one in load.requests]
        if key == "stop.stream_load" and not all(streams):
            raise ValueError(
                f"{key} {name!r} has requests without `stream` and without `websocket`: name a load of streams alone"
            )
        if key == "stop.stream_load" and load.spoken.label != "h1":
            raise ValueError(
                f"{key} {name!r} speaks {load.spoken}, and streams are stopped over HTTP/1.1 without TLS: "
                "name another load"
            )
        if key != "stop.stream_load" and any(one.websocket is not None for one in load.requests):
            raise ValueError(f"{key} {name!r} sends messages over WebSockets: name it in `stream_load`")
