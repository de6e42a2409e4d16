"""How a service ended under load: what became of its requests and connections. Times are seconds after SIGTERM."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from touchstone.record.base import Record
from touchstone.record.secret import shown_job


class Outcomes(Record):
    """Requests by what became of them; docs/engine-protocol.md says how each is recognised."""

    right: int = 0
    wrong: int = 0
    unavailable: int = 0
    """Answered 503, or with the gRPC status UNAVAILABLE."""
    unprocessed: int = 0
    """Declined over HTTP/2: by GOAWAY, or by RST_STREAM with REFUSED_STREAM."""
    refused: int = 0
    """No connection: nobody listened."""
    stale: int = 0
    """Sent on a kept connection that was closed before the service had read it."""
    unread: int = 0
    """Sent on a new connection that was reset before the service had read it: it waited to be accepted."""
    cut: int = 0
    """Read by the service, which closed the connection, or reset the stream, without a byte of a response."""
    broken: int = 0
    """The connection, or the stream, ended within the response."""
    unanswered: int = 0
    failed: int = 0

    @property
    def sent(self) -> int:
        """All requests."""
        return sum(self.model_dump().values())

    @property
    def lost(self) -> int:
        """Requests that the service had read or could still read, and that got no right response."""
        return self.wrong + self.cut + self.broken + self.unanswered + self.failed

    @property
    def closed_under(self) -> int:
        """Requests whose connection was closed before the service had read them."""
        return self.stale + self.unread

    @property
    def turned_away(self) -> int:
        """Requests that were refused, so that their client knows that nothing was done."""
        return self.refused + self.unavailable + self.unprocessed

    def __add__(self, other: Outcomes) -> Outcomes:
        return Outcomes(**{name: count + getattr(other, name) for name, count in self.model_dump().items()})


class IdleConnections(Record):
    """Connections without a request in flight."""

    open: int = 0
    """Open at the signal."""
    closed_before: int = 0
    closed: int = 0
    """Closed from the signal on, until the process had ended."""
    first_closed_s: float | None = None
    last_closed_s: float | None = None
    answered: dict[int, int] = {}
    """Responses that came on them, by status."""


class LostRequest(Record):
    """A request that was not answered as expected."""

    due_s: float
    ended_s: float
    outcome: str
    evidence: str = ""


class StreamsEnded(Record):
    """Streams that were open at SIGTERM."""

    open: int = 0
    ended_before: int = 0
    ended: int = 0
    """Ended as they should: by the end of the response, or by a close frame."""
    cut: int = 0
    left: int = 0
    """Still open when the process had ended, or the time was up."""
    last_ended_s: float | None = None
    close_codes: dict[int, int] = {}


class Handover(Record):
    """What the process changed that took over."""

    gap_s: float = 0.0
    """The longest time without a right response, from SIGTERM to the end of the load."""
    memory_bytes: int | None = None
    """Memory of the process tree that got SIGTERM, while both ran."""
    both_bytes: int | None = None
    """Memory of both process trees: that of the one, and the anonymous memory of the other."""


class StopResult(Record):
    """What the engine says of a stop job."""

    schema_: Literal["touchstone.stop/1"] = Field(default="touchstone.stop/1", alias="schema")
    job: Annotated[dict[str, JsonValue], AfterValidator(shown_job)] = {}
    interrupted: bool = False
    failure: str | None = None
    """Why the service was not ended."""
    stop_s: float | None = None
    """From SIGTERM until the process had ended; None if it had not when the time was up."""
    before: Outcomes = Outcomes()
    """Requests that ended before the signal."""
    under_way: Outcomes = Outcomes()
    """Requests that were in flight at the signal."""
    after: Outcomes = Outcomes()
    """Requests that were due after it, until the process had ended."""
    last_right_s: float | None = None
    first_refused_s: float | None = None
    announced: int = 0
    """Responses after the signal that announced the connection's end."""
    idle: IdleConnections = IdleConnections()
    silent: IdleConnections = IdleConnections()
    half_sent: IdleConnections = IdleConnections()
    listens_after: bool = False
    """Whether somebody still took connections at the address after the process had ended."""
    streams: StreamsEnded = StreamsEnded()
    handover: Handover | None = None
    """None if no process took over."""
    latest_s: float = 0.0
    """How much later than due the latest request was sent: the client's own lateness."""
    losses: list[LostRequest] = []

    @property
    def sent(self) -> Outcomes:
        """All requests."""
        return self.before + self.under_way + self.after

    @property
    def from_signal(self) -> Outcomes:
        """Requests that had not ended at the signal, or were due after it."""
        return self.under_way + self.after


class StopEvidence(Record):
    """How the service ended in one case."""

    kind: Literal["stop"] = "stop"
    case: str
    within_s: float
    """How long it was given to end."""
    result: StopResult
    exit: str | None = None
    """How its process ended, in words; None if it had to be killed."""
    survivors: list[str] = []
    """Processes of its tree that lived on: id and name."""
    rate: float = 0.0
    """Requests per second that were due."""
    shares_port: bool = False
    """Whether a second process could listen at the same port; known where one was started."""
    second_failure: str | None = None
    """Why no second process ran beside it, which was to take over."""
    second_exit: str | None = None
    """How the second process ended before the load did."""
    unanswered_work: int | None = None
    """Units of work that were done and whose requests got no right response; None where no proof counts work."""
