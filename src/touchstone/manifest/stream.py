"""A response that is a stream of events, and what its events must be."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from touchstone.manifest.base import DocumentedAs, ManifestModel
from touchstone.manifest.expected_json import JsonField
from touchstone.manifest.template import TemplateText

NumberPlace = Annotated[
    str,
    StringConstraints(pattern=r"^(id|data|json(\.[^.]+)+)$"),
    DocumentedAs("place (`id`, `data` or `json.NAME`)", "places (`id`, `data` or `json.NAME`)"),
]
"""Where a number is in an event."""


class EventExpectation(ManifestModel):
    """The expected data of an event."""

    body: TemplateText | None = None
    """The whole data, compared byte by byte once placeholders are filled in."""
    pattern: TemplateText | None = None
    """A regular expression that the whole data must match; it takes no placeholder but `{fresh}`."""
    json_fields: dict[str, JsonField] | None = Field(default=None, alias="json")
    """Top-level fields of a JSON object, as in `expect.json`."""
    json_exact: bool = False
    """Whether any other top-level field is a fault."""

    @model_validator(mode="after")
    def _one_kind(self) -> EventExpectation:
        kinds = [k for k in (self.body, self.pattern, self.json_fields) if k is not None]
        if len(kinds) > 1:
            raise ValueError("an event is checked in one way: body, pattern or json")
        if self.json_exact and self.json_fields is None:
            raise ValueError("`json_exact` goes with `json`: add `json`, or leave it out")
        return self


class Stream(ManifestModel):
    """A response that is a stream of events. It is correct if the stated number of events arrived, each event is
    correct, and by the counter none was lost, doubled or out of order. Later events are not read.
    """

    kind: Literal["sse", "lines", "chunks", "messages"]
    """What an event is: `sse`, a server-sent event, whose response must be `text/event-stream` unless
    `expect.content_type` names another type; `lines`, a line that is not empty, such as one of JSON Lines; `chunks`, a
    chunk of HTTP/1.1 or a DATA frame of HTTP/2; `messages`, a message of a gRPC method that streams its responses, in
    JSON."""
    events: Annotated[int, Field(ge=1, le=1_000_000)]
    """The number of events that must arrive."""
    expect: EventExpectation = EventExpectation()
    """What the data of each event must be; by default anything."""
    counter: NumberPlace | None = None
    """The place of a number that increases by one from event to event: `id` (server-sent events), `data`, or
    `json.NAME`; `json.a.b` is inside another object. Without it, only the number of events shows a lost or doubled
    event."""
    first: int | None = None
    """The counter of the first event; whichever comes first if it is left out."""
    stamp: NumberPlace | None = None
    """Where the time is at which the service sent the event, written as for `counter`: Unix time in seconds,
    milliseconds, microseconds or nanoseconds, by its size."""
    event: str | None = None
    """The type (`event:`) of the server-sent events that count; all if it is left out."""

    @model_validator(mode="after")
    def _parts_fit(self) -> Stream:
        if self.kind != "sse" and "id" in (self.counter, self.stamp):
            raise ValueError("only server-sent events have an id: name `data` or `json.NAME`")
        if self.kind != "sse" and self.event is not None:
            raise ValueError("only server-sent events have a type: leave `event` out")
        if self.first is not None and self.counter is None:
            raise ValueError("`first` is the first number of a counter: name `counter`, or leave `first` out")
        return self


def stream_texts(stream: Stream) -> dict[tuple[str | int, ...], str | None]:
    """The templates of a stream, by their place in a request."""
    expect = stream.expect
    texts: dict[tuple[str | int, ...], str | None] = {
        ("stream", "expect", "body"): expect.body,
        ("stream", "expect", "pattern"): expect.pattern,
    }
    fields = (expect.json_fields or {}).items()
    return texts | {("stream", "expect", "json", name): value for name, value in fields if isinstance(value, str)}
