"""What the engine says of a load's connections: docs/engine-protocol.md is the reference. Seconds and counts."""

from __future__ import annotations

from pydantic import Field

from touchstone.record.base import EngineRecord


class ConnectionErrors(EngineRecord):
    """What went wrong with connections in the measured window, by class. None of it is a failed request."""

    refused: int = 0
    connect_failed: int = 0
    closed_idle: int = 0
    """Closes by the server at rest, or as a request came that may be sent once more."""
    unasked_bytes: int = 0
    """Bytes on a connection that carried no request, and no notice of its end."""


class Closes(EngineRecord):
    """Kept connections that the server closed in one way: after how many responses, and after what rest."""

    count: int = 0
    responses_least: int = 0
    responses_most: int = 0
    rested_least_s: float = 0.0
    rested_most_s: float = 0.0
    status: dict[str, int] = Field(default={}, exclude_if=lambda status: not status)
    """Number of closes with a notice, by status."""


def _kind() -> Closes | None:
    return Field(default=None, exclude_if=lambda closes: closes is None)


class ClosedByServer(EngineRecord):
    """Kept connections that the server closed over the whole job, by when it did. None where it did not."""

    unused: Closes | None = _kind()
    """At rest, before a first request."""
    idle: Closes | None = _kind()
    """At rest, after responses."""
    notified: Closes | None = _kind()
    """At rest, with a response to no request, such as a 408."""
    announced: Closes | None = _kind()
    """With a correct response that announced it."""
    under_request: Closes | None = _kind()
    """As requests came, of which not a byte was answered."""

    @property
    def count(self) -> int:
        """How many of all kinds."""
        kinds = (self.unused, self.idle, self.notified, self.announced, self.under_request)
        return sum(one.count for one in kinds if one)


class Connections(EngineRecord):
    """Connections of the load."""

    asked: int = 0
    established: int = 0
    held: int = 0
    opened: int = 0
    reconnects: int = 0
    errors: ConnectionErrors = ConnectionErrors()
    closed: ClosedByServer | None = Field(default=None, exclude_if=lambda closed: closed is None)
    """None in records of engines that did not tell closes apart."""


class Sent(EngineRecord):
    """What the sockets of a machine sent, loopback included."""

    datagrams: int = 0
    """UDP datagrams."""
    segments: int = 0
    """TCP segments, acknowledgements included."""
    octets: int = 0
    """Bytes of IP packets, with their headers."""
