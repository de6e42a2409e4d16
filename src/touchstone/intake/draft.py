"""A scenario to edit, written as TOML with comments that say what was guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.toml import table, text, value
from touchstone.intake.writing import writing
from touchstone.manifest.base import NAME, NAME_IN_WORDS
from touchstone.manifest.catalogue import SCENARIO_FILE
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario
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
    think_s: float = 0.0
    guessed: str = ""
    """What the author should look at."""


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
class Draft:
    """A contract and its loads."""

    title: str
    source: str
    """Where it comes from, for the comment on top."""
    contract: Sequence[DraftRequest]
    loads: Sequence[DraftLoad]
    ready: DraftRequest | None = None
    """What tells that the service has started; if nobody says, the first GET in which nothing is guessed."""

    def write(self, folder: Path) -> Path:
        """Write the scenario.toml of a folder, made if it is not there. Raises TouchstoneError if it cannot be."""
        name = folder.resolve().name
        if not re.fullmatch(NAME, name):
            raise UsageError(f"{name!r} is no name of a scenario", fix=NAME_IN_WORDS)
        target = folder / SCENARIO_FILE
        with writing(target):
            folder.mkdir(parents=True, exist_ok=True)
            target.write_text(self.toml(name), encoding="utf-8")
        read_manifest(target, Scenario)
        return target

    def toml(self, name: str) -> str:
        """The text of a scenario.toml for a scenario of this name."""
        return "\n".join(self._lines(name)) + "\n"

    def _lines(self, name: str) -> Iterator[str]:
        ready = self.ready or next(
            (one for one in self.contract if one.method == "GET" and not one.guessed), self.contract[0]
        )
        yield f"# A draft from {self.source}. Look at what is marked, and say in `expect` what a right response is."
        yield "schema = 1"
        yield f"name = {text(name)}"
        yield f"title = {text(self.title)}"
        yield f"summary = {text(self.title)}"
        yield ""
        yield "[ready]                     # the request whose correct response means that the service has started"
        yield f"target = {text(literal(ready.target))}"
        known = {name: held for name, held in _answer(ready).items() if name == "body"}
        yield f"expect = {table({'status': ready.status} | known)}"
        for identity, one in zip(_unlike(one.name for one in self.contract), self.contract, strict=True):
            yield from (
                "",
                "[[contract]]",
                f"id = {text(identity)}",
                f"says = {text(one.says)}",
                "[[contract.steps]]",
            )
            yield from _request(one)
        for load in self.loads:
            yield from _load(load)


def slug(words: str) -> str:
    """A name that may stand in a manifest: lower case, digits, single dashes."""
    spread = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", words)
    dashed = re.sub(r"[^a-z0-9]+", "-", spread.lower()).strip("-")[:_SHOWN].strip("-")
    return dashed if dashed[:1].isalpha() else f"r-{dashed}".strip("-")


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


def _load(load: DraftLoad) -> Iterator[str]:
    place = f"loads.{load.name}"
    yield from ("", *([f"# {load.note}"] if load.note else []), f"[{place}]", f"title = {text(load.title)}")
    yield from (f"{name} = {value(held)}" for name, held in load.settings.items())
    if load.journey:
        yield from (f"[[{place}.journeys]]", f"name = {text(load.name)}")
    for identity, one in zip(_unlike(one.name for one in load.requests), load.requests, strict=True):
        yield f"[[{place}.journeys.steps]]" if load.journey else f"[[{place}.requests]]"
        yield f"name = {text(identity)}"
        if not load.journey:
            yield "weight = 1"
        elif one.think_s:
            yield f"think_s = {one.think_s:g}"
        yield from _request(one)


def _request(one: DraftRequest) -> Iterator[str]:
    if one.guessed:
        yield f"# {one.guessed}"
    if one.method != "GET":
        yield f"method = {text(one.method)}"
    yield f"target = {text(literal(one.target))}"
    if one.headers:
        yield f"headers = {table({name: literal(held) for name, held in one.headers.items()})}"
    if one.body is not None:
        yield f"body = {text(literal(one.body))}"
    yield f"expect = {table({'status': one.status} | _answer(one))}"


def _answer(one: DraftRequest) -> dict[str, Any]:
    """What is known of the right response next to its status."""
    expect: dict[str, Any] = {"headers": one.fields} if one.fields else {}
    if one.method == "HEAD" or one.status in {204, 304}:
        return expect
    if one.content_type:
        expect["content_type"] = one.content_type
    if one.answer is not None:
        expect["body"] = literal(one.answer)
    elif one.pattern is not None:
        expect["pattern"] = literal(one.pattern)
    elif one.json_types or one.json_values:
        by_type = {name: {"type": kind} for name, kind in one.json_types.items()}
        expect["json"] = by_type | {name: _literal(held) for name, held in one.json_values.items()}
        if one.json_exact:
            expect["json_exact"] = True
    return expect


def _literal(held: Any) -> Any:
    """A value of JSON in which no text has a placeholder."""
    match held:
        case str():
            return literal(held)
        case dict():
            return {name: _literal(one) for name, one in held.items()}
        case list():
            return [_literal(one) for one in held]
    return held
