"""A request that is being drafted for an operation, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.plain import written
from touchstone.intake.openapi.sample import Said, SampleValue
from touchstone.intake.parts import joined


@dataclass
class PartialRequest:
    """What is sent so far."""

    path: str = ""
    query: list[str] = field(default_factory=list)
    """Pairs as they are sent."""
    headers: dict[str, str] = field(default_factory=dict)
    cookies: list[str] = field(default_factory=list)
    body: str | None = None
    made_up: list[str] = field(default_factory=list)
    """Names of what the document gives no value for."""
    looks: list[str] = field(default_factory=list)
    """What the author should look at."""
    notes: list[str] = field(default_factory=list)
    """What the author should know."""
    variables: dict[str, str] = field(default_factory=dict)
    """Environment variables that hold a secret, and what each is."""

    def has_header(self, name: str) -> bool:
        """Whether there is such a field, in any case."""
        return any(one.lower() == name.lower() for one in self.headers)

    def take(self, name: str, sample: SampleValue, *, must_exist: bool = False) -> None:
        """Note what is unknown about a value. `must_exist` means its schema alone does not make it valid."""
        if sample.made_up and (must_exist or not sample.bounded):
            self.made_up.append(name)
        if sample.doubt:
            self.looks.append(f"{name}: {sample.doubt}")

    @property
    def target(self) -> str:
        """Path and query."""
        mark = "&" if "?" in self.path else "?"
        return joined([self.path, mark, joined(self.query, "&")]) if self.query else self.path

    @property
    def fields(self) -> dict[str, str]:
        """The header fields, with that of the cookies."""
        return self.headers | ({"cookie": joined(self.cookies, "; ")} if self.cookies else {})

    @property
    def guessed(self) -> str:
        """What the author should look at, in a line."""
        made_up = f"made up: {', '.join(self.made_up)}; put in values that exist, or capture them in a step before"
        return "; ".join([*([made_up] if self.made_up else []), *dict.fromkeys(self.looks)])


def examples_of(holder: DocumentNode) -> list[Said]:
    """The examples of a parameter or media type that the document contains."""
    found: list[Said] = []
    for key in ("example", "x-example"):
        if key in holder.held:
            found.append((holder.held[key], written(holder.held, key)))
    examples = holder.held.get("examples")
    if isinstance(examples, list):
        found += [(one, written(examples, place)) for place, one in enumerate(examples)]
    elif isinstance(examples, dict):
        found += [stated for name in examples if (stated := _value_of(holder, name))]
    return found


def _value_of(holder: DocumentNode, name: str) -> Said | None:
    """The value of an Example Object; none of one that is elsewhere, or none at all."""
    try:
        example = holder.object("examples").object(name)
    except UnsoundError:
        return None
    for key in ("value", "dataValue"):
        if key in example.held:
            return example.held[key], written(example.held, key)
    return None


def schema_of(holder: DocumentNode) -> DocumentNode | None:
    """The schema of a parameter or a media type, if it has one."""
    return holder.child("schema") if holder.held.get("schema") is not None else None
