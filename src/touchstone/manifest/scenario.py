"""scenario.toml: a service contract and the loads put on it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from touchstone.manifest.base import Name, Part
from touchstone.manifest.contract import Check
from touchstone.manifest.exchange import Request
from touchstone.manifest.load import Load
from touchstone.manifest.objective import parse_objective
from touchstone.vocabulary.dependency import DEPENDENCIES

Setting = str | int | bool
"""A value that a contender gets in its environment."""


EnvironmentName = Annotated[str, Field(pattern=r"^[^=\x00]+$")]


class DependencySpec(Part):
    """Something that the service talks to. The lab makes it fresh in each round and gives its address by `env`."""

    kind: str
    env: str
    """The environment variable through which the service learns the address."""
    variables: dict[EnvironmentName, str] = {}
    """Further environment variables for the service, made of the address's parts: `{ DB_PORT = "{port}" }`."""
    settings: dict[str, Any] = {}
    """The settings that are equal for all; which there are is the dependency's own."""

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


class Hold(Part):
    """Memory against the number of connections."""

    request: Request
    levels: list[int]
    large_levels: list[int] = []
    """Levels above one process's file limit, run only by `--phase hold --large`."""
    large_settings: dict[str, Setting] = {}
    """Settings that differ at those levels, for all contenders alike: opening may take longer than an idle timeout."""
    modes: list[Literal["idle", "traffic"]] = ["idle"]


class Drain(Part):
    """A topic filled beforehand, and drained by the service with one call of a downstream a message."""

    dependency: Name
    downstream: Name
    """The dependency that logs the message ids: order and completeness are proven from its log."""
    messages: list[Annotated[int, Field(ge=10)]]
    thorough_messages: list[Annotated[int, Field(ge=10)]] = []
    """Numbers of messages that are drained in the thorough profile alone."""
    exhibit_spreads: list[Literal["keyless", "skewed"]] = []
    """Unequal ways to lay the messages into partitions, drained with --exhibits next to the equal one."""
    stats_target: str = "/stats"
    within_s: Annotated[float, Field(gt=0)] = 300.0


class Floor(Part):
    """The search for the smallest memory limit that is enough."""

    load: Name
    share_of_unlimited: Annotated[float, Field(gt=0, le=1)] = 0.9
    objective: str | None = None
    """What must hold under the limit besides, such as `p99 < 50ms`."""
    from_mb: int = 4
    to_mb: int = 1024

    @field_validator("objective")
    @classmethod
    def _readable(cls, objective: str | None) -> str | None:
        return objective and parse_objective(objective).text


class Peak(Part):
    """The start under load, from exec on."""

    load: Name
    """A closed loop: its connections ask as fast as the contender, still slow, answers."""


class Capacity(Part):
    """The highest rate at which an objective holds."""

    objective: str
    """Upper bounds that must hold together, such as `p99 < 50ms, errors < 0.1%`."""
    loads: list[Name] = []
    """The loads whose rate is searched for; all of the run's if none is named."""

    @field_validator("objective")
    @classmethod
    def _readable(cls, objective: str) -> str:
        return parse_objective(objective).text


Target = Annotated[str, Field(pattern=r"^/[!-~]*$")]
"""A request target: a path, with its query if it has one."""


class ProbePost(Part):
    """A resource that takes a body by POST. Without one, content is sent with GET, and some cases are left out."""

    target: Target
    body: Annotated[str, Field(min_length=1, max_length=16384)] | None = None
    """What it takes; without it the probe sends `hello`."""
    content_type: str | None = None
    headers: dict[str, str] = {}


class Probe(Part):
    """The HTTP conformance probe."""

    target: Target
    """A resource that answers GET with 2xx."""
    headers: dict[str, str] = {}
    """Fields of every request, such as Authorization."""
    post: ProbePost | None = None


class Scenario(Part):
    """The whole of scenario.toml."""

    schema_: Literal[1] = Field(alias="schema")
    name: Name
    title: str
    summary: str
    version: int = 1
    """Raised with every change that makes results incomparable."""
    settings: dict[str, Setting] = {}
    """Environment variables equal for all contenders: pool sizes, timeouts, durability. `{cpus}` is how many CPUs the
    contender has."""
    ready: Request
    """The request whose correct response means that the service has started."""
    dependencies: dict[Name, DependencySpec] = {}
    contract: list[Check]
    loads: Annotated[dict[Name, Load], Field(min_length=1)]
    hold: Hold | None = None
    drain: Drain | None = None
    floor: Floor | None = None
    peak: Peak | None = None
    capacity: Capacity | None = None
    probe: Probe | None = None
    baseline: Name | None = None
    """The stack against which the others are put; the first by name if it is not given."""

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
        for name in self.capacity.loads if self.capacity else []:
            if name not in self.loads:
                raise ValueError(f"capacity.loads: {name!r} is none of the loads")
        return self
