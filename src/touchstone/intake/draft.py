"""A scenario to edit, written as TOML with comments that say what was guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.conceal import Vault
from touchstone.intake.parts import DraftCheck, DraftDependency, DraftLoad, DraftRequest, PlaceholderText, slug
from touchstone.intake.toml import comment, key, table, text, value
from touchstone.manifest.base import NAME, NAME_IN_WORDS
from touchstone.manifest.files import SCENARIO_FILE, SCENARIO_SCHEMA
from touchstone.manifest.reader import manifest_of
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.template import literal, parse
from touchstone.whole_file import write_whole

_HEALTH = re.compile(
    r"(?:.*[/_.-])?(?:health(?:z|y|[_-]?check)?|live(?:z|ness)?|readyz?|readiness|ping|up|status|heartbeat)/?",
    re.IGNORECASE,
)
"""A path that tells whether a service is ready, by its last words: `/health`, `/-/ready`, `/api/v1/ping`."""
__all__ = ["Draft", "DraftCheck", "DraftLoad", "DraftRequest", "PlaceholderText", "slug"]


@dataclass(frozen=True)
class Draft:
    """A contract and its loads. No secret of theirs is written (`conceal.py`)."""

    title: str
    source: str
    """Where it comes from, for the comment on top."""
    contract: Sequence[DraftRequest | DraftCheck]
    loads: Sequence[DraftLoad]
    ready: DraftRequest | None = None
    """What tells that the service has started; if nobody says, the first GET in which nothing is guessed."""
    ready_within_s: float | None = None
    """How long a start may take, in seconds, where that is known."""
    protocol: str | None = None
    """What is spoken, if not HTTP/1.1."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Variables of the service's environment."""
    dependencies: Sequence[DraftDependency] = ()
    notes: Sequence[str] = ()
    """What the source holds and the draft does not: written as comments on top."""

    def write(self, folder: Path) -> Path:
        """Write the scenario.toml of a folder, made if it is not there: the whole file, or none.

        Raises TouchstoneError if it cannot be written.
        """
        name = folder.resolve().name
        if not re.fullmatch(NAME, name):
            raise UsageError(f"{name!r} is not a name of a scenario", fix=NAME_IN_WORDS)
        target = folder / SCENARIO_FILE
        written = self.toml(name)
        manifest_of(written, target, Scenario)
        write_whole(target, written)
        return target

    def toml(self, name: str) -> str:
        """The text of a scenario.toml for a scenario of this name."""
        return "\n".join(self.concealed()._lines(name)) + "\n"

    def concealed(self) -> Draft:
        """The draft with placeholders in place of its secrets, and notes on what they stand for."""
        vault = Vault([*self._contract_steps(), *(one for load in self.loads for one in load.requests)])

        def check(one: DraftRequest | DraftCheck) -> DraftRequest | DraftCheck:
            if isinstance(one, DraftRequest):
                return vault.conceal(one)
            return replace(one, says=vault.hidden(one.says), steps=[vault.conceal(step) for step in one.steps])

        def load(one: DraftLoad) -> DraftLoad:
            return replace(one, note=vault.hidden(one.note), requests=[vault.conceal(step) for step in one.requests])

        return replace(
            self,
            title=vault.hidden(self.title),
            contract=[check(one) for one in self.contract],
            loads=[load(one) for one in self.loads],
            ready=self.ready and vault.conceal(self.ready),
            notes=[*map(vault.hidden, self.notes), *vault.notes()],
        )

    def _contract_steps(self) -> list[DraftRequest]:
        return [step for one in self.contract for step in (one.steps if isinstance(one, DraftCheck) else [one])]

    def _lines(self, name: str) -> Iterator[str]:
        yield SCENARIO_SCHEMA
        yield from comment(
            f"A draft from {self.source}. Look at what is marked, and say in `expect` what a right response is."
        )
        for note in self.notes:
            yield from comment(note)
        yield "schema = 1"
        yield f"name = {text(name)}"
        yield f"title = {text(self.title)}"
        yield f"summary = {text(self.title)}"
        if self.protocol is not None:
            yield f"protocol = {text(self.protocol)}"
        yield ""
        yield "[ready]                     # the request whose correct response means that the service has started"
        ready = replace(self.ready, guessed="") if self.ready else self._first_read()
        yield from _request(
            replace(ready, note="", content_type=None, json_types={}, json_values={}, pattern=None, fields={})
        )
        if self.ready_within_s is not None:
            yield f"within_s = {self.ready_within_s:g}"
        yield from self._environment()
        for identity, one in zip(_unlike(one.name for one in self.contract), self.contract, strict=True):
            yield from ("", "[[contract]]", f"id = {text(identity)}", f"says = {text(one.says)}")
            for step in one.steps if isinstance(one, DraftCheck) else [one]:
                yield "[[contract.steps]]"
                yield from _request(step)
        for load in self.loads:
            yield from _load(load)

    def _environment(self) -> Iterator[str]:
        if self.settings:
            yield from ("", "[settings]                  # in the environment of every stack")
            yield from (f"{key(name)} = {text(held)}" for name, held in self.settings.items())
        for one in self.dependencies:
            yield from ("", *comment(f"look: {one.guessed}" if one.guessed else ""), f"[dependencies.{one.name}]")
            yield from (f"kind = {text(one.kind)}", f"env = {text(one.env)}")
            if one.variables:
                yield f"variables = {table(one.variables)}"
            if one.settings:
                yield f"settings = {table(one.settings)}"

    def _first_read(self) -> DraftRequest:
        """The first GET in which nothing is guessed: a health check or one that needs no secret before others.

        Where nothing but writes is known, a GET of the same target asks without writing.
        """
        steps = [replace(step, captures={}) for step in self._contract_steps() if not step.known]
        reads = [one for one in steps if one.method == "GET" and not one.guessed]
        plain = [one for one in reads if not any(map(_has_placeholder, (one.target, *one.headers.values())))]
        if reads:
            return next((one for one in plain if _HEALTH.fullmatch(one.target)), (plain or reads)[0])
        if guessed := next((one for one in steps if one.method == "GET"), None):
            return guessed
        look = "name a request that changes nothing; a service that only takes writes here answers this one 404 or 405"
        first = replace(steps[0], method="GET", headers={}, body=None, status=404, other_statuses=[405])
        return replace(first, guessed="; ".join(filter(None, (look, first.guessed))))


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
    if "grpc" not in one.keys:
        if one.method != "GET":
            yield f"method = {text(one.method)}"
        yield f"target = {text(_template(one.target))}"
    yield from (f"{name} = {value(held)}" for name, held in one.keys.items())
    if one.headers:
        yield f"headers = {_headers(one)}"
    if one.body is not None:
        yield f"body = {text(_template(one.body))}"
        if one.encoding == "bytes":
            yield 'encoding = "bytes"'
    # gRPC and WebSockets have no status of their own choice.
    expect = _answer(one) if {"grpc", "websocket"} & set(one.keys) else _status(one) | _answer(one)
    if expect:
        yield f"expect = {table(expect)}"
    if one.captures:
        yield f"captures = {table(one.captures)}"


def _has_placeholder(held: str) -> bool:
    return isinstance(held, PlaceholderText) and any(parse(held).placeholders)


def _template(held: str) -> str:
    return held if isinstance(held, PlaceholderText) else literal(held)


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
