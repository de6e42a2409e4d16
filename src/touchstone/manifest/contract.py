"""The contract of a scenario: checks that a contender passes before anything is timed."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from touchstone.manifest.base import Name, Part
from touchstone.manifest.exchange import Request
from touchstone.manifest.journey import Capture, CaptureName
from touchstone.manifest.template import TemplateText


class Send(Request):
    """A step that sends a request, once or often, alone or side by side."""

    repeat: Annotated[int, Field(ge=1)] = 1
    concurrent: Annotated[int, Field(ge=1)] = 1
    tally: dict[str, int] = {}
    """How many of the repeated answers must have which status, such as `{"200" = 1, "500" = 19}`."""
    captures: dict[CaptureName, Capture] = {}
    """Values taken from the answer, for `{capture.NAME}` in later steps of the check."""
    within_s: Annotated[float, Field(gt=0)] | None = None
    """Try again until the expectation is met, at most this long: for a recovery."""


class Act(Part):
    """A step that does something to a dependency, such as taking it away."""

    dependency: Name
    act: Name
    with_: dict[str, str | int | float | bool] = Field(default={}, alias="with")


class Wait(Part):
    """A step that lets time pass."""

    wait_s: Annotated[float, Field(gt=0, le=60)]


Step = Send | Act | Wait


class Proof(Part):
    """A question to a dependency that shows that the work was really done."""

    says: str
    """The statement that is proven, for the reader of the report."""
    dependency: Name
    query: TemplateText
    """What is asked; its language is the dependency's own (SQL, a path of the downstream, ...)."""
    equals: str | int
    """The answer that must come: a number, or `ok` (successes), `sent`, or `ok + N`."""
    within_s: Annotated[float, Field(gt=0)] | None = None


class Check(Part):
    """One statement about the service, its steps, and the proofs that follow them."""

    id: Name
    says: str
    steps: list[Step]
    proofs: list[Proof] = []


Answer = Any
"""What a dependency says to a query: a number, a text, or rows."""
