"""Journeys: requests in order, each with what it takes from its response for those behind it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from touchstone.manifest.base import Name, Part
from touchstone.manifest.exchange import Request

CaptureName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
"""A name for `{capture.NAME}`."""


class Capture(Part):
    """Where in a response a value is: one of the three, or a field and a pattern on its value."""

    json_pointer: str | None = Field(default=None, alias="json", pattern=r"^(/.*)?$")
    """A JSON pointer (RFC 6901) into the body, such as `/items/0/id`."""
    header: str | None = None
    """A field of the head."""
    pattern: str | None = None
    """A regular expression that is searched for in the field, or in the body; its first group is the value."""

    @model_validator(mode="after")
    def _one_place(self) -> Capture:
        if self.json_pointer is None and self.header is None and self.pattern is None:
            raise ValueError("a capture names `json`, `header` or `pattern`")
        if self.json_pointer is not None and (self.header is not None or self.pattern is not None):
            raise ValueError("a capture by `json` names nothing else")
        return self


class JourneyStep(Request):
    """One request of a journey."""

    name: str = "step"
    captures: dict[CaptureName, Capture] = {}
    """Values taken from the response, for `{capture.NAME}` in later steps."""
    think_s: Annotated[float, Field(ge=0, le=3600)] = 0.0
    """The user's pause between the response and the next request."""


class Journey(Part):
    """A user's way through the service, on one connection. Cookies that it sets are sent back."""

    name: Name
    weight: Annotated[int, Field(ge=1)] = 1
    steps: Annotated[list[JourneyStep], Field(min_length=1)]
