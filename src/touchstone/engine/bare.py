"""Requests without what they take from rows and other responses, and requests in which nothing is filled in at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from touchstone.engine.job import given_variables, request
from touchstone.engine.protocol import BareRequest
from touchstone.manifest.exchange import Request
from touchstone.manifest.template import KeyRange, Outside, Place, Plain, Variable, parse

AnyRequest = TypeVar("AnyRequest", bound=Request)

_STANDS_FOR = "1"
"""It can stand in a target, a header and a body, within a JSON string and without."""


def bare(text: str) -> str:
    """A template whose rows and captured values are a fixed text, and which is a template still."""
    return "".join(_written(piece) for piece in parse(text).pieces)


def filled(text: str) -> str:
    """A template in which every value is a fixed text, and which is a template still."""
    return "".join(_written(piece) if isinstance(piece, str) else _STANDS_FOR for piece in parse(text).pieces)


def without_outside(wanted: AnyRequest) -> AnyRequest:
    """A request of a load that takes nothing from rows and other responses, a fixed text in place of each."""
    return rewritten(wanted, lambda text, _: bare(text))


def bare_request(wanted: Request) -> BareRequest:
    """A request of a load by itself, in the protocol's form: to be looked at."""
    return request(without_outside(wanted))


def plain_request(wanted: Request) -> BareRequest:
    """A request in which nothing is filled in, in the protocol's form: jobs but loads send texts as they are."""

    def sent(text: str, place: Place) -> str:
        return "".join(map(str, parse(given_variables(text, place)).pieces))

    return request(rewritten(wanted, sent), lambda text, _: text)


def rewritten(wanted: AnyRequest, change: Callable[[str, Place], str]) -> AnyRequest:
    """A request with each of its texts changed, as is right where the text stands."""
    expect, fields = wanted.expect, wanted.expect.json_fields
    changed = {
        "body": None if expect.body is None else change(expect.body, "body"),
        "pattern": None if expect.pattern is None else change(expect.pattern, "body"),
        "json_fields": fields and {k: change(v, "body") if isinstance(v, str) else v for k, v in fields.items()},
    }
    return wanted.model_copy(
        update={
            "target": change(wanted.target, "target"),
            "headers": {name: change(value, "header") for name, value in wanted.headers.items()},
            "body": None if wanted.body is None else change(wanted.body, "body"),
            "expect": expect.model_copy(update=changed),
        }
    )


def _written(piece: str | Plain | KeyRange | Outside | Variable) -> str:
    if isinstance(piece, str):
        return piece.replace("{", "{brace}")
    if isinstance(piece, Outside):
        return _STANDS_FOR
    if isinstance(piece, Variable):
        return f"{{env.{piece.name}{'' if piece.escape == 'plain' else ':' + piece.escape}}}"
    if isinstance(piece, KeyRange):
        return f"{{key:{piece.low}..{piece.high}:{piece.distribution}}}"
    return f"{{{piece.name}}}"
