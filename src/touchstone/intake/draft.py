"""A scenario to edit, written as TOML with comments that say what was guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.toml import comment, table, text, value
from touchstone.intake.writing import write_whole
from touchstone.manifest.base import NAME, NAME_IN_WORDS
from touchstone.manifest.catalogue import SCENARIO_FILE
from touchstone.manifest.reader import manifest_of
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.template import literal

_SHOWN = 60


class Template(str):
    """A text with placeholders such as `{env.TOKEN}`, written as it is."""


@dataclass(frozen=True)
class DraftRequest:
    """A request, and as much of a right response as is known. A text is sent as it is unless it is a `Template`."""

    name: str
    method: str
    target: str
    says: str
    status: int = 200
    other_statuses: Sequence[int] = ()
    """Those that are right, too."""
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
    """What the author should look at: written behind `# look:`."""
    note: str = ""
    """What the author should know: written as a comment."""


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
    notes: Sequence[str] = ()
    """What the source holds and the draft does not: written as comments on top."""

    def write(self, folder: Path) -> Path:
        """Write the scenario.toml of a folder, made if it is not there: the whole file, or none.

        Raises TouchstoneError if it cannot be written.
        """
        name = folder.resolve().name
        if not re.fullmatch(NAME, name):
            raise UsageError(f"{name!r} is no name of a scenario", fix=NAME_IN_WORDS)
        target = folder / SCENARIO_FILE
        written = self.toml(name)
        manifest_of(written, target, Scenario)
        write_whole(target, written)
        return target

    def toml(self, name: str) -> str:
        """The text of a scenario.toml for a scenario of this name."""
        return "\n".join(self._lines(name)) + "\n"

    def _lines(self, name: str) -> Iterator[str]:
        yield from comment(
            f"A draft from {self.source}. Look at what is marked, and say in `expect` what a right response is."
        )
        for note in self.notes:
            yield from comment(note)
        yield "schema = 1"
        yield f"name = {text(name)}"
        yield f"title = {text(self.title)}"
        yield f"summary = {text(self.title)}"
        yield ""
        yield "[ready]                     # the request whose correct response means that the service has started"
        ready = replace(self.ready, guessed="") if self.ready else self._first_read()
        yield from _request(
            replace(ready, note="", content_type=None, json_types={}, json_values={}, pattern=None, fields={})
        )
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

    def _first_read(self) -> DraftRequest:
        """The first GET in which nothing is guessed, one that needs no secret before others; else what is there."""
        reads = [one for one in self.contract if one.method == "GET" and not one.guessed]
        plain = [one for one in reads if not isinstance(one.target, Template) and not one.headers]
        if reads:
            return (plain or reads)[0]
        first = self.contract[0]
        return replace(first, guessed="; ".join(filter(None, ("name a request that changes nothing", first.guessed))))


def slug(words: str) -> str:
    """A name that may stand in a manifest: lower case, digits, single dashes."""
    spread = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", words)
    dashed = re.sub(r"[^a-z0-9]+", "-", spread.lower()).strip("-")[:_SHOWN].strip("-")
    return dashed if dashed[:1].isalpha() else f"r-{dashed}".strip("-")


def _unlike(names: Iterable[str]) -> list[str]:
    """Names with a number behind those that stood before."""
    found: dict[str, None] = {}
    numbers: dict[str, int] = {}
    for name in names:
        fitting = name
        while fitting in found:
            numbers[name] = numbers.get(name, 1) + 1
            fitting = f"{name}-{numbers[name]}"
        found[fitting] = None
    return list(found)


def _load(load: DraftLoad) -> Iterator[str]:
    place = f"loads.{load.name}"
    yield from ("", *comment(load.note), f"[{place}]", f"title = {text(load.title)}")
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
    yield from comment(one.note)
    yield from comment(f"look: {one.guessed}" if one.guessed else "")
    if one.method != "GET":
        yield f"method = {text(one.method)}"
    yield f"target = {text(_template(one.target))}"
    if one.headers:
        yield f"headers = {_headers(one)}"
    if one.body is not None:
        yield f"body = {text(_template(one.body))}"
    yield f"expect = {table(_status(one) | _answer(one))}"


def _template(held: str) -> str:
    return held if isinstance(held, Template) else literal(held)


def _headers(one: DraftRequest) -> str:
    return table({name: _template(held) for name, held in one.headers.items()})


def _status(one: DraftRequest) -> dict[str, Any]:
    return {"status": [one.status, *one.other_statuses] if one.other_statuses else one.status}


def _answer(one: DraftRequest) -> dict[str, Any]:
    """What is known of the right response next to its status."""
    expect: dict[str, Any] = {"headers": one.fields} if one.fields else {}
    if one.method == "HEAD" or {one.status, *one.other_statuses} & {204, 304}:
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
