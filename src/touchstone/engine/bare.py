"""Requests without what they take from rows and other responses."""

from __future__ import annotations

from typing import TypeVar

from touchstone.manifest.exchange import Expectation, LoadRequest, Request
from touchstone.manifest.stream import EventExpectation
from touchstone.manifest.template import BuiltInValue, ExternalValue, KeyRange, Variable, parse

AnyRequest = TypeVar("AnyRequest", bound=Request)
AnyExpectation = TypeVar("AnyExpectation", Expectation, EventExpectation)

_STANDS_FOR = "1"
"""It can stand in a target, a header and a body, within a JSON string and without."""


def without_external_values(text: str) -> str:
    """The template with a fixed text in place of rows and captured values. It remains a template."""
    return "".join(_written(piece) for piece in parse(text).pieces)


def request_without_external_values(wanted: AnyRequest) -> AnyRequest:
    """The request with a fixed text in place of each value from rows and other responses."""
    changed: dict[str, object] = {"expect": _expecting(wanted.expect)}
    if isinstance(wanted, LoadRequest) and wanted.stream is not None:
        changed["stream"] = wanted.stream.model_copy(update={"expect": _expecting(wanted.stream.expect)})
    return wanted.model_copy(
        update=changed
        | {
            "target": without_external_values(wanted.target),
            "headers": {name: without_external_values(value) for name, value in wanted.headers.items()},
            "body": None if wanted.body is None else without_external_values(wanted.body),
        }
    )


def _expecting(expect: AnyExpectation) -> AnyExpectation:
    fields = expect.json_fields
    return expect.model_copy(
        update={
            "body": None if expect.body is None else without_external_values(expect.body),
            "pattern": None if expect.pattern is None else without_external_values(expect.pattern),
            "json_fields": fields
            and {k: without_external_values(v) if isinstance(v, str) else v for k, v in fields.items()},
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
