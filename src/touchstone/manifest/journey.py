"""Journeys: requests in order, each with values captured for later ones."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from touchstone.manifest.base import DocumentedAs, ManifestModel, Name
from touchstone.manifest.exchange import LoadRequest

CaptureName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$"),
    DocumentedAs("name (letters, digits, `_` and `-`)", "names (letters, digits, `_` and `-`)"),
]
"""A name for `{capture.NAME}`."""


class Capture(ManifestModel):
    """Where in a response a value is: `json`, `header` or `pattern`, or `header` with a `pattern` on its value."""

    json_pointer: (
        Annotated[
            str,
            StringConstraints(pattern=r"^(/.*)?$"),
            DocumentedAs("JSON pointer (RFC 6901)", "JSON pointers (RFC 6901)"),
        ]
        | None
    ) = Field(default=None, alias="json")
    """A place in the JSON body, such as `/items/0/id`."""
    header: str | None = None
    """The name of a header field."""
    pattern: str | None = None
    """A regular expression that is searched for in the field, or in the body; its first group is the value."""

    @model_validator(mode="after")
    def _one_place(self) -> Capture:
        if self.json_pointer is None and self.header is None and self.pattern is None:
            raise ValueError("a capture names `json`, `header` or `pattern`")
        if self.json_pointer is not None and (self.header is not None or self.pattern is not None):
            raise ValueError("a capture by `json` names nothing else")
        return self


class CapturingRequest(LoadRequest):
    """A request from whose response later ones take values."""

    captures: dict[CaptureName, Capture] = {}
    """Values taken from the response, for `{capture.NAME}` in later steps, and under a load that the step prepares."""

    @model_validator(mode="after")
    def _captures_fit_stream(self) -> CapturingRequest:
        if self.stream is not None and any(one.header is None for one in self.captures.values()):
            raise ValueError("nothing is captured from the body of a stream: capture from a header")
        return self


class JourneyStep(CapturingRequest):
    """One request of a journey."""

    name: str = "step"
    """Its name in the report, after the name of the journey."""
    think_s: Annotated[float, Field(ge=0, le=3600)] = 0.0
    """The user's pause between the response and the next request, in seconds."""

    @model_validator(mode="after")
    def _sends_requests(self) -> JourneyStep:
        if self.websocket is not None:
            raise ValueError("a journey sends requests over one connection, and no WebSocket: leave `websocket` out")
        return self


class Journey(ManifestModel):
    """A user's sequence of requests on one connection. Cookies that the service sets are sent back."""

    name: Name
    """Its name in the report."""
    weight: Annotated[int, Field(ge=1)] = 1
    """How often it is drawn, relative to the weights of the others."""
    steps: Annotated[list[JourneyStep], Field(min_length=1)]
    """Its requests in order. A wrong or missing response ends the journey."""
