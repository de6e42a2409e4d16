"""Puts the parameters of an operation into its request: path, query, header fields and cookies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.partial_request import PartialRequest, examples_of, schema_of
from touchstone.intake.openapi.sample import ValueGenerator
from touchstone.intake.openapi.style import STYLES, as_it_is, in_cookie, in_pairs, in_place, percent, reserved

_IGNORED = ("accept", "authorization", "content-type")
"""Header fields that OpenAPI describes elsewhere: as parameters they are ignored (4.8.12.1)."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD = re.compile(r"[\t -~]*")
_IN_PATH = re.compile(r"\{[^{}/]*\}")


def put_parameters(
    asked: PartialRequest, path: str, base: str, parameters: Sequence[DocumentNode], sampler: ValueGenerator
) -> None:
    """Fill in the path and add required parameters. Invalid parameters are named and left out."""
    in_path: dict[str, str] = {}
    for (place, name), parameter in _distinct(asked, parameters).items():
        try:
            if place == "path":
                in_path[name] = _in_path(asked, name, parameter, sampler)
            elif place == "querystring":
                raise UnsoundError("a parameter that is the whole query string is not drafted")
            elif parameter.flag("required") or (place == "header" and name.lower() in _IGNORED):
                _put(asked, place, name, parameter, sampler)
        except UnsoundError as error:
            asked.looks.append(f"the parameter {name} is left out: {error}")
            if place == "path":
                in_path[name] = "1"
    asked.path = _filled(asked, base, path, in_path)


def _distinct(asked: PartialRequest, parameters: Sequence[DocumentNode]) -> dict[tuple[str, str], DocumentNode]:
    """Parameters by place and name: those of an operation, which come last, in place of its path's."""
    found: dict[tuple[str, str], DocumentNode] = {}
    for reference in parameters:
        try:
            parameter = reference.followed()
            if not isinstance(parameter.held, dict):
                raise UnsoundError("it is not an object")
            name, place = parameter.text("name"), parameter.text("in")
            if not name or place not in (*STYLES, "querystring"):
                raise UnsoundError(f"it is called {name!r}, and is in {place!r}")
            found[place, name] = parameter
        except UnsoundError as error:
            asked.looks.append(f"a parameter is left out: {error}")
    return found


def _value(
    asked: PartialRequest, name: str, parameter: DocumentNode, sampler: ValueGenerator, *, must_exist: bool = False
) -> Any:
    """The parameter's value; of one with `content`, its text."""
    for media_type, content in parameter.objects("content"):
        sample = sampler.sample(schema_of(content), examples_of(content))
        asked.take(name, sample, must_exist=must_exist)
        is_text = isinstance(sample.value, str) and "json" not in media_type
        return sample.value if is_text else json.dumps(sample.value, ensure_ascii=False, separators=(",", ":"))
    schema, given = schema_of(parameter), examples_of(parameter)
    if schema is None:
        given = [(value if words is None else words, None) for value, words in given]
    sample = sampler.sample(schema, given)
    asked.take(name, sample, must_exist=must_exist)
    return sample.value


def _style(parameter: DocumentNode, place: str) -> tuple[str, bool]:
    style = parameter.text("style") or STYLES[place][0]
    if style not in STYLES[place]:
        raise UnsoundError(f"it has the style {style!r}, and in the {place} there are {', '.join(STYLES[place])}")
    explode = parameter.flag("explode")
    return style, style in ("form", "cookie", "deepObject") if explode is None else explode


def _in_path(asked: PartialRequest, name: str, parameter: DocumentNode, sampler: ValueGenerator) -> str:
    value = _value(asked, name, parameter, sampler, must_exist=True)
    style, explode = _style(parameter, "path")
    written = in_place(name, value, style, explode=explode, encode=percent)
    if not written:
        asked.looks.append(f"{name} is empty, and stands in the path")
    return written


def _put(asked: PartialRequest, place: str, name: str, parameter: DocumentNode, sampler: ValueGenerator) -> None:
    if place == "header":
        _put_field(asked, name, parameter, sampler)
        return
    style, explode = _style(parameter, place)
    value = _value(asked, name, parameter, sampler)
    if place == "query":
        encode = reserved if parameter.flag("allowReserved") else percent
        asked.query += in_pairs(name, value, style, explode=explode, encode=encode)
    elif not _NAME.fullmatch(name):
        raise UnsoundError("no cookie can be called so")
    else:
        asked.cookies += in_pairs(name, value, style, explode=explode, encode=in_cookie)


def _put_field(asked: PartialRequest, name: str, parameter: DocumentNode, sampler: ValueGenerator) -> None:
    if name.lower() in _IGNORED:
        if name.lower() == "authorization" and parameter.flag("required"):
            asked.looks.append("the parameter Authorization is ignored, as OpenAPI says: it has no security scheme")
        elif name.lower() != "authorization":
            asked.notes.append(f"the parameter {name} is ignored, as OpenAPI says")
        return
    _, explode = _style(parameter, "header")
    value = in_place(name, _value(asked, name, parameter, sampler), "simple", explode=explode, encode=as_it_is)
    if not _NAME.fullmatch(name):
        raise UnsoundError("no header field can be called so")
    if name.lower() == "cookie":
        asked.cookies.append(value)
    elif not _FIELD.fullmatch(value) or value != value.strip():
        raise UnsoundError(f"no header field can have the value {value!r}")
    elif not asked.has_header(name):
        asked.headers[name] = value


def _filled(asked: PartialRequest, base: str, path: str, values: dict[str, str]) -> str:
    """The path with its parameters in it, as it is sent."""
    path, mark, fragment = path.partition("#")
    if mark:
        asked.looks.append(f"#{fragment} is never sent, and so it is left out of the path")
    return "".join([base, *_pieces(asked, path, values)])


def _pieces(asked: PartialRequest, path: str, values: dict[str, str]) -> Iterator[str]:
    at = 0
    for match in _IN_PATH.finditer(path):
        yield _sendable(path[at : match.start()])
        name = match[0][1:-1]
        if name not in values:
            asked.looks.append(f"the path's {match[0]} is not a parameter of the document")
        yield values.get(name, "1")
        at = match.end()
    yield _sendable(path[at:])
    for name in values.keys() - {match[1:-1] for match in _IN_PATH.findall(path)}:
        asked.looks.append(f"the parameter {name} is not in the path")


def _sendable(path: str) -> str:
    """A piece of a path, with what no request may hold percent-encoded."""
    return re.sub(r"%(?![0-9A-Fa-f]{2})|[^!-~]|[\"<>\\^`{|}]", lambda found: quote(found[0]), path)
