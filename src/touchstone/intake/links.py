"""Finds where secrets and identifiers of a session come from: a cookie, a field or a body of an earlier response."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from touchstone.intake.conceal import conditions_of, secrets_of
from touchstone.intake.identifiers import (
    Identifier,
    escaped,
    identifiers_given,
    member,
    places_in_body,
    places_in_target,
)
from touchstone.intake.parts import DraftRequest

_VERSION = "version"
"""The name of what conditions such as If-None-Match name."""
_LEAST = 8
"""Length from which a value is searched for in texts."""
_BEFORE = 80
"""Characters in front of a value by which it is found again."""
_MOST_LEAVES = 20_000


@dataclass(frozen=True)
class RecordedResponse:
    """A recorded response, as far as later requests may take something from it."""

    cookies: Mapping[str, str]
    """Cookies that it sets."""
    fields: Sequence[tuple[str, str]]
    content: str


def with_captures(steps: Sequence[DraftRequest], answers: Sequence[RecordedResponse]) -> list[DraftRequest]:
    """A session's steps with `captures` for later steps, and the `known` values that they take."""
    captures: list[dict[str, Mapping[str, str]]] = [{} for _ in steps]
    used: list[str] = []
    known = _secrets(steps, answers, captures, used)
    names: dict[tuple[int, str], str] = {}
    given: dict[str, list[Identifier]] = {}
    made = []
    for place, (step, answer) in enumerate(zip(steps, answers, strict=True)):
        in_target = list(places_in_target(step.target, given))
        in_body = list(places_in_body(step.body, step.media_type, given)) if step.body else []
        for _, one in (*in_target, *in_body):
            key = one.step, one.value
            if key not in names:
                names[key] = _called(one.name, used)
                used.append(names[key])
                captures[one.step][names[key]] = one.capture
            known[place].setdefault(one.value, names[key])
        taken = [span for span, _ in in_target], [span for span, _ in in_body]
        made.append(replace(step, known=known[place], taken_in_target=taken[0], taken_in_body=taken[1]))
        for one in identifiers_given(place, step, answer.fields, answer.content):
            given.setdefault(one.value, []).append(one)
    return [replace(one, captures=taken) for one, taken in zip(made, captures, strict=True)]


def _secrets(
    steps: Sequence[DraftRequest],
    answers: Sequence[RecordedResponse],
    captures: Sequence[dict[str, Mapping[str, str]]],
    used: list[str],
) -> list[dict[str, str]]:
    """The secrets and versions that each step takes from earlier ones, by value. Adds to `captures` and `used`.

    Each response is searched once for each secret.
    """
    found: dict[str, str] = {}
    searched: dict[str, int] = {}
    known: list[dict[str, str]] = []
    for place, step in enumerate(steps):
        mine = {}
        for name, value in _wanted(step):
            before = range(searched.get(value, 0), place)
            searched[value] = place
            if value not in found and (source := _source(name, value, answers, before)) is not None:
                found[value] = _called(name, used)
                used.append(found[value])
                captures[source[0]][found[value]] = source[1]
            if value in found:
                mine[value] = found[value]
        known.append(mine)
    return known


def _wanted(step: DraftRequest) -> list[tuple[str, str]]:
    """Names and values that an earlier response may have given."""
    return [(span.name, span.value) for span in secrets_of(step)] + [(_VERSION, one) for one in conditions_of(step)]


def _called(name: str, used: Any) -> str:
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name.removeprefix("cookie ")).strip("_")[:40] or "value"
    plain = plain if plain[0].isalpha() else f"v_{plain}"
    called, number, taken = plain, 1, set(used)
    while called in taken:
        number += 1
        called = f"{plain}_{number}"
    return called


def _source(
    name: str, value: str, answers: Sequence[RecordedResponse], places: range
) -> tuple[int, Mapping[str, str]] | None:
    """The last of these responses that holds a value, by position, and how to capture it."""
    for place in reversed(places):
        if (capture := next(_captures(name, value, answers[place]), None)) is not None:
            return place, capture
    return None


def _captures(name: str, value: str, answer: RecordedResponse) -> Iterator[Mapping[str, str]]:
    """The ways to take a value from a response, the surest first."""
    for cookie, held in answer.cookies.items():
        if held == value and (name == f"cookie {cookie}" or len(value) >= _LEAST):
            yield {"header": "set-cookie", "pattern": f"(?:^|, ?){escaped(cookie)}=([^;]*)"}
    if len(value) < _LEAST and name != _VERSION:
        return
    for field, held in answer.fields:
        if held == value and field != "set-cookie":
            yield {"header": field}
        elif value in held and (pattern := _around(held, value)) is not None:
            yield {"header": field, "pattern": pattern}
    if any(form in answer.content for form in (value, json.dumps(value)[1:-1])):
        if (pointer := _pointer(answer.content, value)) is not None:
            yield {"json": pointer}
        elif (pattern := _around(answer.content, value)) is not None:
            yield {"pattern": pattern}


def _around(text: str, value: str) -> str | None:
    """A pattern that captures the value by the text before it on its line."""
    at = text.find(value)
    before = re.split(r"[\n<?&]", text[max(0, at - _BEFORE) : at])[-1]
    if len(before) < 2 or not before.isprintable():
        return None
    pattern = f"{escaped(before)}([^\"'<>&\\s]+)"
    match = re.search(pattern, text)
    return pattern if match is not None and match[1] == value else None


def _pointer(text: str, value: str) -> str | None:
    """Where a text stands in JSON, as a JSON pointer (RFC 6901)."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    left: list[tuple[str, Any]] = [("", document)]
    for _ in range(_MOST_LEAVES):
        if not left:
            break
        pointer, held = left.pop()
        if held == value:
            return pointer
        if isinstance(held, dict):
            left += [(member(pointer, key), one) for key, one in held.items()]
        elif isinstance(held, list):
            left += [(f"{pointer}/{number}", one) for number, one in enumerate(held)]
    return None
