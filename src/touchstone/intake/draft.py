"""A scenario to edit, written as TOML with comments that say what was guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from touchstone.manifest.template import literal

_SHOWN = 60


@dataclass(frozen=True)
class DraftRequest:
    """A request, and as much of a right response as is known. Texts are as they are sent: no placeholders."""

    name: str
    method: str
    target: str
    says: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    content_type: str | None = None
    json_types: Mapping[str, str] = field(default_factory=dict)
    """Fields that a JSON body must have, by type."""
    think_s: float = 0.0
    guessed: str = ""
    """What the author should look at."""


@dataclass(frozen=True)
class Draft:
    """A contract and its loads."""

    title: str
    source: str
    """Where it comes from, for the comment on top."""
    contract: Sequence[DraftRequest]
    mix: Sequence[DraftRequest] = ()
    journey: Sequence[DraftRequest] = ()

    def toml(self, name: str) -> str:
        """The text of a scenario.toml for a scenario of this name."""
        return "\n".join(self._lines(name)) + "\n"

    def _lines(self, name: str) -> Iterator[str]:
        ready = next((one for one in self.contract if one.method == "GET" and not one.guessed), self.contract[0])
        yield f"# A draft from {self.source}. Look at what is marked, and say in `expect` what a right response is."
        yield "schema = 1"
        yield f"name = {_text(name)}"
        yield f"title = {_text(self.title)}"
        yield f"summary = {_text(self.title)}"
        yield ""
        yield "[ready]                     # the request whose correct response means that the service has started"
        yield f"target = {_text(literal(ready.target))}"
        yield f"expect = {{ status = {ready.status} }}"
        for identity, one in zip(_unlike(one.name for one in self.contract), self.contract, strict=True):
            yield from (
                "",
                "[[contract]]",
                f"id = {_text(identity)}",
                f"says = {_text(one.says)}",
                "[[contract.steps]]",
            )
            yield from _request(one)
        if self.mix:
            yield from ("", "[loads.mix]", 'title = "A mix of requests"', "connections = 16")
            for identity, one in zip(_unlike(one.name for one in self.mix), self.mix, strict=True):
                yield from ("[[loads.mix.requests]]", f"name = {_text(identity)}", "weight = 1")
                yield from _request(one)
        if self.journey:
            yield from ("", "[loads.session]", 'title = "The session that was recorded"', "connections = 16")
            yield from ("[[loads.session.journeys]]", 'name = "session"')
            for identity, one in zip(_unlike(one.name for one in self.journey), self.journey, strict=True):
                yield from ("[[loads.session.journeys.steps]]", f"name = {_text(identity)}")
                if one.think_s:
                    yield f"think_s = {one.think_s:g}"
                yield from _request(one)


def slug(text: str) -> str:
    """A name that may stand in a manifest: lower case, digits, single dashes."""
    spread = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", text)
    words = re.sub(r"[^a-z0-9]+", "-", spread.lower()).strip("-")[:_SHOWN].strip("-")
    return words if words[:1].isalpha() else f"r-{words}".strip("-")


def _unlike(names: Iterable[str]) -> list[str]:
    """Names with a number behind those that stood before."""
    found: list[str] = []
    for name in names:
        number, fitting = 1, name
        while fitting in found:
            number += 1
            fitting = f"{name}-{number}"
        found.append(fitting)
    return found


def _request(one: DraftRequest) -> Iterator[str]:
    if one.guessed:
        yield f"# {one.guessed}"
    if one.method != "GET":
        yield f"method = {_text(one.method)}"
    yield f"target = {_text(literal(one.target))}"
    if one.headers:
        yield f"headers = {_table({name: literal(value) for name, value in one.headers.items()})}"
    if one.body is not None:
        yield f"body = {_text(literal(one.body))}"
    expect: dict[str, Any] = {"status": one.status}
    bodiless = one.method == "HEAD" or one.status in {204, 304}
    if one.content_type and not bodiless:
        expect["content_type"] = one.content_type
    if one.json_types and not bodiless:
        expect["json"] = {name: {"type": kind} for name, kind in one.json_types.items()}
    yield f"expect = {_table(expect)}"


def _table(values: Mapping[str, Any]) -> str:
    pairs = (f"{_key(name)} = {_value(value)}" for name, value in values.items())
    return f"{{ {', '.join(pairs)} }}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return _table(value)
    return _text(value) if isinstance(value, str) else str(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    """A TOML string: as it is between single quotes where it can, else with JSON's escapes, which are TOML's, too."""
    if not re.search(r"['\x00-\x1f\x7f]", text) and re.search(r'["\\]', text):
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
