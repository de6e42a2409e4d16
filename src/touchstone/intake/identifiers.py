"""Finds identifiers of things that a session creates, and where later requests name them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.intake.parts import DraftRequest
from touchstone.intake.secrets import Span

_CREATING = ("POST", "PUT", "PATCH")
_NAMED = re.compile(r"_?id|[ug]?uid|uuid|guid|ulid|slug|\w*(?:_id|Id|ID|_uuid|Uuid|UUID)")
"""Members whose value names a thing."""
_STEM = re.compile(r"[_-]?(?:id|uuid)$", re.IGNORECASE)
_WRITTEN = re.compile(r"[\w.~-]{1,200}")
"""A value that a path, a form and JSON have in the same characters."""
_DISTINCT = re.compile(r"(?=.*\d)[\w.~-]{8,}")
"""A value that no other thing has by chance."""
_MEMBER = re.compile(r'"(?P<name>[\w-]+)"\s*:\s*(?P<quote>"?)(?P<value>[\w.~-]+)(?P=quote)(?=\s*[,}\]])')
_ELEMENT = re.compile(r'(?<=[\[,])\s*(?P<quote>"?)(?P<value>[\w.~-]+)(?P=quote)(?=\s*[,\]])')
_PAIR = re.compile(r"(?:^|[?&])(?P<name>[\w.\[\]-]+)=(?P<value>[\w.~-]+)(?=&|#|$)")
_ORIGIN = r"^(?:[A-Za-z][\w+.-]*:)?(?://[^/?#]*)?"
_MEANT = re.compile(r"[\\.^$*+?{}\[\]|()]")
"""What means something in a regular expression, in Python's as in the engine's."""
_DEEPEST = 4
_Found = tuple[str, Mapping[str, str], str]
"""The name of an identifier, how to capture it, and its value."""


@dataclass(frozen=True)
class Identifier:
    """The name that a service gave to a thing."""

    step: int
    """The position of the request that created the thing."""
    value: str
    name: str
    capture: Mapping[str, str]
    created_at: str
    """The path that created the thing."""


def identifiers_given(
    place: int, step: DraftRequest, fields: Sequence[tuple[str, str]], content: str
) -> Iterator[Identifier]:
    """The identifiers in a response to a creating request, without those that the request has."""
    if step.method not in _CREATING:
        return
    path = step.target.partition("?")[0].rstrip("/")
    for name, capture, value in (*_in_location(fields), *_in_json(content)):
        own = value in (step.target + (step.body or "")) if _DISTINCT.fullmatch(value) else value in path.split("/")
        if not own:
            yield Identifier(place, value, name, capture, path)


def places_in_target(target: str, given: Mapping[str, Sequence[Identifier]]) -> Iterator[tuple[Span, Identifier]]:
    """Path segments and query values that are identifiers, each with the latest one it may be."""
    path = target.partition("?")[0]
    for found in re.finditer(r"[^/]+", path):
        above = path[: found.start()].rstrip("/")
        for one in reversed(given.get(found[0], ())):
            if _DISTINCT.fullmatch(one.value) or above == one.created_at:
                yield Span(found.start(), found.end(), one.name, one.value), one
                break
    yield from _named_places(target[len(path) :], _PAIR, given, len(path))


def places_in_body(
    body: str, media_type: str, given: Mapping[str, Sequence[Identifier]]
) -> Iterator[tuple[Span, Identifier]]:
    """The same for members of JSON, and for fields of a form."""
    if "json" in media_type:
        yield from _named_places(body, _MEMBER, given)
        yield from _named_places(body, _ELEMENT, given)
    elif "x-www-form-urlencoded" in media_type:
        yield from _named_places(body, _PAIR, given)


def _named_places(
    text: str, pattern: re.Pattern[str], given: Mapping[str, Sequence[Identifier]], at: int = 0
) -> Iterator[tuple[Span, Identifier]]:
    for found in pattern.finditer(text):
        named = found.groupdict().get("name") or ""
        for one in reversed(given.get(found["value"], ())):
            if _DISTINCT.fullmatch(one.value) or _means(named, one):
                yield Span(at + found.start("value"), at + found.end("value"), one.name, one.value), one
                break


def _means(named: str, one: Identifier) -> bool:
    """Whether a member such as `orderId` names what `POST /orders` created."""
    stem = _STEM.sub("", named).lower()
    return stem != named.lower() and len(stem) > 2 and stem in one.created_at.rpartition("/")[2].lower()


def _in_json(content: str) -> Iterator[_Found]:
    """Each member that names a thing, captured by its JSON pointer (RFC 6901)."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return
    yield from _members(document, "", 0)


def _members(held: Any, pointer: str, depth: int) -> Iterator[_Found]:
    if not isinstance(held, dict) or depth > _DEEPEST:
        return
    for key, value in held.items():
        place = member(pointer, key)
        plain = isinstance(value, str | int) and not isinstance(value, bool)
        if plain and _NAMED.fullmatch(key) and _WRITTEN.fullmatch(str(value)):
            yield key, {"json": place}, str(value)
        yield from _members(value, place, depth + 1)


def member(pointer: str, key: str) -> str:
    """The JSON pointer of a member of the object that another pointer leads to."""
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def _in_location(fields: Sequence[tuple[str, str]]) -> Iterator[_Found]:
    """The last segment of the URL of what was created."""
    for held in (held for field, held in fields if field == "location"):
        path = re.split(r"[?#]", re.sub(_ORIGIN, "", held))[0].rstrip("/")
        above, _, last = path.rpartition("/")
        if _WRITTEN.fullmatch(last):
            pattern = f"{_ORIGIN}{escaped(above)}/([^/?#]+)"
            yield above.rpartition("/")[2] or "location", {"header": "location", "pattern": pattern}, last


def escaped(text: str) -> str:
    """A text as a regular expression that matches it alone."""
    return _MEANT.sub(r"\\\g<0>", text)
