"""The parts of a draft: requests, checks of several, and loads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from touchstone.intake.secrets import Span
from touchstone.manifest.template import literal

STREAMS = ("text/event-stream", "multipart/x-mixed-replace")
"""Media types of responses that do not end by themselves."""
_SHOWN = 60


class PlaceholderText(str):
    """A text with placeholders such as `{env.TOKEN}`, written as it is."""


def joined(texts: Sequence[str], between: str = "") -> str:
    """Texts one behind the other: a template if one of them is, in which the others stand for themselves."""
    if not any(isinstance(one, PlaceholderText) for one in texts):
        return between.join(texts)
    found = ""
    for number, one in enumerate(texts):
        found += literal(between) if number else ""
        if isinstance(one, PlaceholderText):
            # Two braces in a row would be an error.
            found = f"{found[:-1]}{{brace}}" if found.endswith("{") else found
        found += one if isinstance(one, PlaceholderText) else literal(one)
    return PlaceholderText(found)


@dataclass(frozen=True)
class DraftRequest:
    """A request, and as much of a right response as is known. Plain text is sent as it is."""

    name: str
    """Name of the request in the draft; made of method and path if it is empty."""
    method: str
    target: str
    says: str
    """What a right response is, in a sentence; made of method, target and status if it is empty."""
    status: int = 200
    other_statuses: Sequence[int] = ()
    """Further right statuses."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    encoding: Literal["text", "bytes"] = "text"
    """With `bytes` each character of the body stands for one."""
    content_type: str | None = None
    """The media type of the right response."""
    json_types: Mapping[str, str] = field(default_factory=dict)
    """Fields that a JSON body must have, by type."""
    json_values: Mapping[str, Any] = field(default_factory=dict)
    """Fields that a JSON body must have, by value."""
    json_exact: bool = False
    """Whether a JSON body has no other fields."""
    answer: str | None = None
    """The whole body of the right response."""
    pattern: str | None = None
    """A regular expression that its whole body matches."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Patterns of fields that the right response has."""
    captures: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What later steps take from its response, as a manifest says it, by name."""
    known: Mapping[str, str] = field(default_factory=dict)
    """Secrets, versions and identifiers in its texts that earlier steps capture: by values, the captures' names."""
    taken_in_target: Sequence[Span] = ()
    taken_in_body: Sequence[Span] = ()
    """Where the identifiers stand."""
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Other keys of the request, as a scenario has them: `grpc` and `proto`, `stream`, `websocket`. They come without
    the keys that they replace."""
    think_s: float = 0.0
    guessed: str = ""
    """What the author should look at: written behind `# look:`."""
    note: str = ""
    """What the author should know: written as a comment."""

    @property
    def media_type(self) -> str:
        """Media type of the sent body, with parameters; empty if no field names it."""
        return next((value for name, value in self.headers.items() if name.lower() == "content-type"), "")


@dataclass(frozen=True)
class DraftCheck:
    """A check of several requests in order."""

    name: str
    says: str
    steps: Sequence[DraftRequest]


@dataclass(frozen=True)
class DraftLoad:
    """A load: requests that are drawn equally often, or that one user sends in order."""

    name: str
    title: str
    requests: Sequence[DraftRequest]
    journey: bool = False
    settings: Mapping[str, Any] = field(default_factory=lambda: {"connections": 16})
    """Other keys of the load, as a scenario has them."""
    note: str = ""
    """What the author should look at."""


@dataclass(frozen=True)
class DraftDependency:
    """A dependency, as a scenario has it."""

    name: str
    kind: str
    env: str
    variables: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    guessed: str = ""
    """What the author should look at."""

    @property
    def gives(self) -> tuple[str, ...]:
        """The variables that a service has of it."""
        return self.env, *self.variables


def slug(words: str) -> str:
    """A name that may stand in a manifest: lower case, digits, single dashes."""
    spread = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", words)
    dashed = re.sub(r"[^a-z0-9]+", "-", spread.lower()).strip("-")[:_SHOWN].strip("-")
    return dashed if dashed[:1].isalpha() else f"r-{dashed}".strip("-")
