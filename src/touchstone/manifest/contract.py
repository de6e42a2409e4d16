"""The contract of a scenario: checks that a contender passes before anything is timed."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from touchstone.manifest.base import ManifestModel, Name
from touchstone.manifest.journey import CapturingRequest
from touchstone.manifest.spoken import Protocol
from touchstone.manifest.template import TemplateText


class Send(CapturingRequest):
    """A step that sends a request, once or repeatedly, in sequence or concurrently."""

    repeat: Annotated[int, Field(ge=1)] = 1
    """How often it is sent; `{counter}` differs each time."""
    concurrent: Annotated[int, Field(ge=1)] = 1
    """How many of the `repeat` requests are in flight at a time."""
    tally: dict[str, int] = {}
    """The number of the `repeat` responses that must have each status, such as `{ "200" = 1, "500" = 19 }`."""
    within_s: Annotated[float, Field(gt=0)] | None = None
    """For a recovery: the request is repeated until its response is correct, for at most this number of seconds. By
    default the first response counts."""

    @model_validator(mode="after")
    def _tallies_statuses_of_http(self) -> Send:
        if self.grpc is not None and self.tally:
            raise ValueError("a tally counts statuses of HTTP, and those of gRPC calls are 200: leave `tally` out")
        if self.websocket is not None and self.tally:
            raise ValueError("a tally counts statuses of HTTP, and a WebSocket's is 101: leave `tally` out")
        return self

    @model_validator(mode="after")
    def _repeats_what_is_concurrent(self) -> Send:
        if self.concurrent > self.repeat:
            raise ValueError(
                f"`concurrent` {self.concurrent} is above `repeat` {self.repeat}: that number of requests is never "
                "in flight at a time; set `repeat` to the number of requests"
            )
        return self


class Act(ManifestModel):
    """A step that does something to a dependency, such as taking it away."""

    dependency: Name
    """One of the scenario's dependencies, by its name."""
    act: Name
    """What is done, such as `stop` or `execute`; docs/dependencies.md lists the acts of each kind."""
    with_: dict[str, TemplateText | int | float | bool] = Field(default={}, alias="with")
    """Arguments of the act, such as `{ sql = "DELETE FROM users" }`; texts are templates, as those of a request are."""


class Wait(ManifestModel):
    """A step that lets time pass."""

    wait_s: Annotated[float, Field(gt=0, le=60)]
    """The pause in seconds."""


Step = Send | Act | Wait


class Proof(ManifestModel):
    """A question to a dependency that shows that the work was really done."""

    says: str
    """The statement that is proven, for the reader of the report."""
    dependency: Name
    """The dependency that is asked, by its name."""
    query: TemplateText
    """What is asked, in the dependency's own language, such as SQL; docs/dependencies.md tells for each kind."""
    equals: str | int
    """The expected answer: a number, a text, or a count of requests of the check or the load: those with a correct
    response (`ok`, `ok + 1`) or all that were sent (`sent`)."""
    within_s: Annotated[float, Field(gt=0)] | None = None
    """The query is repeated until the answer is correct, for at most this number of seconds; by default it is made
    once."""
    requests: list[str] = []
    """The requests of the mix that `ok` and `sent` count, by their names; all of them if it is left out. Only in loads
    with `disturb`, whose requests are counted separately."""


class Check(ManifestModel):
    """One statement about the service, its steps, and the proofs that follow them."""

    id: Name
    """Its short name in the report; no two checks share one."""
    says: str
    """The statement about the service, for the reader of the report."""
    steps: list[Step]
    """What is done, in order: requests, acts on a dependency, pauses."""
    proofs: list[Proof] = []
    """Questions to dependencies, asked after the steps."""

    @model_validator(mode="after")
    def _is_over_one_protocol(self) -> Check:
        if not (self.is_over("h1") or self.is_over("h2c")):
            raise ValueError(
                "a check has gRPC calls, which need HTTP/2, and WebSockets, which are opened over HTTP/1.1: "
                "write two checks"
            )
        return self

    def is_over(self, protocol: Protocol) -> bool:
        """Whether its steps can be made in a protocol: gRPC calls need HTTP/2, and WebSockets HTTP/1.1."""
        sent = [step for step in self.steps if isinstance(step, Send)]
        if protocol == "h1":
            return all(step.grpc is None for step in sent)
        return all(step.websocket is None for step in sent)


Answer = Any
"""What a dependency says to a query: a number, a text, or rows."""
