"""Requests without what they take from rows and other responses."""

from __future__ import annotations

from typing import TypeVar

from touchstone.manifest.exchange import Request
from touchstone.manifest.template import BuiltInValue, ExternalValue, KeyRange, Variable, parse

AnyRequest = TypeVar("AnyRequest", bound=Request)

_STANDS_FOR = "1"
"""It can stand in a target, a header and a body, within a JSON string and without."""


def without_external_values(text: str) -> str:
    """The template with a fixed text in place of rows and captured values. It remains a template."""
    return "".join(_written(piece) for piece in parse(text).pieces)


def request_without_external_values(wanted: AnyRequest) -> AnyRequest:
    """The request with a fixed text in place of each value from rows and other responses."""
    expect, fields = wanted.expect, wanted.expect.json_fields
    changed = {
        "body": None if expect.body is None else without_external_values(expect.body),
        "pattern": None if expect.pattern is None else without_external_values(expect.pattern),
        "json_fields": fields
        and {k: without_external_values(v) if isinstance(v, str) else v for k, v in fields.items()},
    }
    return wanted.model_copy(
        update={
            "target": without_external_values(wanted.target),
            "headers": {name: without_external_values(value) for name, value in wanted.headers.items()},
            "body": None if wanted.body is None else without_external_values(wanted.body),
            "expect": expect.model_copy(update=changed),
        }
    )


def _written(piece: str | BuiltInValue | KeyRange | ExternalValue | Variable) -> str:
    if isinstance(piece, str):
        return piece.replace("{", "{brace}")
    if isinstance(piece, ExternalValue):
        return _STANDS_FOR
    if isinstance(piece, Variable):
        return f"{{env.{piece.name}{'' if piece.escape == 'plain' else ':' + piece.escape}}}"
    if isinstance(piece, KeyRange):
        return f"{{key:{piece.low}..{piece.high}:{piece.distribution}}}"
    return f"{{{piece.name}}}"
