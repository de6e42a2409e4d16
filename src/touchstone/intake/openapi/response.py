"""What a right response is by the document: status, media type, and types of fields that must be there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from touchstone.intake.openapi.media import essence, is_range, kind, preferred
from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.schema import put_together
from touchstone.intake.parts import STREAMS

_RANK = ("json", "text", "xml", "lines", "form", "multipart", "bytes")
_BODILESS = (204, 205)


@dataclass
class CorrectResponse:
    """A right response."""

    status: int = 200
    other_statuses: Sequence[int] = ()
    content_type: str | None = None
    accept: str = ""
    """What to ask for, where the document has several media types; empty where it has not."""
    json_types: dict[str, str] = field(default_factory=dict)
    looks: list[str] = field(default_factory=list)


def right_response(operation: DocumentNode) -> CorrectResponse:
    """The successes that are described; else a redirect, else what `default` says. What is not known is named."""
    right = CorrectResponse()
    try:
        responses = operation.object("responses")
    except UnsoundError as error:
        right.looks.append(f"its responses cannot be read: {error}")
        return right
    codes = _successes(responses)
    if not codes:
        right.looks.append("the document names no status of a success: is it 200?")
        codes = {code: [HTTPStatus.OK.value] for code in ["default"] if code in responses.keys}
    contents = []
    for code in codes:
        try:
            contents.append(responses.object(code).object("content"))
        except UnsoundError as error:
            right.looks.append(f"its response {code} cannot be read: {error}")
    if contents and all(one.keys for one in contents):
        _content(right, contents)
        codes = {code: [one for one in several if one not in _BODILESS] or several for code, several in codes.items()}
    statuses = dict.fromkeys(status for several in codes.values() for status in several)
    right.status, *right.other_statuses = statuses or [right.status]
    return right


def _successes(responses: DocumentNode) -> dict[str, list[int]]:
    """The keys of responses that are right, each with its statuses: those of 2XX, or else redirects."""
    for first in "23":
        named = {code: [int(code)] for code in responses.keys if code.isascii() and code.isdecimal()}
        # 304 answers a condition, and 206 a range, which nobody has asked for.
        found = {code: one for code, one in named.items() if code[0] == first and len(code) == 3 and code != "304"}
        found = {code: one for code, one in found.items() if code != "206"} or found
        if found:
            return found
        if f"{first}XX" in (code.upper() for code in responses.keys):
            key = next(code for code in responses.keys if code.upper() == f"{first}XX")
            return {key: [one.value for one in HTTPStatus if str(one.value)[0] == first and one.value != 304]}
    return {}


def _content(right: CorrectResponse, contents: Sequence[DocumentNode]) -> None:
    """The media type, if all share one, and the types of a JSON object's fields."""
    chosen = [preferred(content.keys, _RANK) for content in contents]
    names = {essence(one or "") for one in chosen}
    if None in chosen or len(names) > 1 or any(is_range(one or "") for one in chosen):
        return
    right.content_type = names.pop()
    if right.content_type in STREAMS:
        right.looks.append("its response is a stream, which may not end, and no check sees the end of it")
    if any(len([one for one in content.keys if essence(one)]) > 1 for content in contents):
        right.accept = right.content_type
    if len(contents) == 1 and kind(right.content_type) == "json":
        try:
            right.json_types = _json_types(contents[0].object(chosen[0] or ""))
        except UnsoundError as error:
            right.looks.append(f"the schema of its response cannot be read: {error}")


def _json_types(content: DocumentNode) -> dict[str, str]:
    """Types of the fields that must be there, where each has one type alone."""
    if "schema" not in content.held:
        return {}
    schema = put_together([content.child("schema")])
    if schema.types != ["object"] or schema.nullable:
        return {}
    found = {}
    for name in schema.required:
        field_ = put_together(schema.properties.get(name, ()))
        if len(field_.types or ()) == 1 and not (field_.shown or field_.write_only or field_.nullable):
            found[name] = field_.kind
    return found
