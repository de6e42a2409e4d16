"""The bounds of a service: quiet connections, responses on one connection, the largest head of a request."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from touchstone.record.base import Record
from touchstone.record.secret import shown_job


class QuietConnection(Record):
    """A connection on which the client sends nothing more."""

    closed_s: float | None = None
    """When the service closed it; None if it was open at the end of the watch."""
    reset: bool = False
    status: int | None = None
    """The status of the response that came before the end."""


class ResponsesOnOne(Record):
    """The responses on one connection."""

    count: int
    ended: bool
    """Whether the service ended the connection, and not the client."""
    announced: bool
    """Whether the last response announced that."""


class HeadLimit(Record):
    """A bound of a request's head."""

    accepted: int
    refused: int | None = None
    """The least that was not accepted; None if all that was tried was."""
    status: int | None = None
    instead: Literal["closed", "reset", "not_http", "nothing"] | None = None
    """Without a response: what came in its place."""


class BoundsResult(Record):
    """What the engine says of a bounds job."""

    schema_: Literal["touchstone.bounds/1"] = Field(default="touchstone.bounds/1", alias="schema")
    job: Annotated[dict[str, JsonValue], AfterValidator(shown_job)] = {}
    interrupted: bool = False
    failure: str | None = None
    """Why no bounds were looked for."""
    idle: list[QuietConnection] = []
    """At rest, each after one response."""
    silent: list[QuietConnection] = []
    half_sent: list[QuietConnection] = []
    keep_alive: str | None = None
    """The first response's `Keep-Alive` field."""
    responses: ResponsesOnOne | None = None
    field: HeadLimit | None = None
    """Bytes of one field line, its end included."""
    fields: HeadLimit | None = None
    target: HeadLimit | None = None
    h2c: bool = False
    """Whether HTTP/2 without TLS is answered to a client that begins with its preface."""


class BoundsEvidence(Record):
    """The bounds of one contender."""

    kind: Literal["bounds"] = "bounds"
    watch_s: float
    """How long quiet connections were watched."""
    result: BoundsResult
