"""Bodies of forms: urlencoded (WHATWG URL, 5.2), and multipart (RFC 7578)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from touchstone.intake.openapi.media import JSON, essence, is_range
from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.partial_request import PartialRequest, examples_of, schema_of
from touchstone.intake.openapi.schema import put_together
from touchstone.intake.openapi.style import in_pairs, percent, reserved, scalar_text

_BOUNDARY = "----touchstone"
_STYLED = ("style", "explode", "allowReserved")


def form(value: Any, content: DocumentNode) -> str:
    """The body: a pair for each field. Raises UnsoundError for a value that has no names."""
    pairs: list[str] = []
    for name, held, encoding in _fields(value, content):
        if any(key in encoding.held for key in _STYLED):
            style, explode = encoding.text("style") or "form", encoding.flag("explode")
            explode = style in ("form", "deepObject") if explode is None else explode
            encode = reserved if encoding.flag("allowReserved") else percent
            pairs += in_pairs(name, held, style, explode=explode, encode=encode)
            continue
        as_json = essence(encoding.text("contentType")) == JSON
        several = held if isinstance(held, list) and not as_json else [held]
        pairs += [f"{quote_plus(name)}={quote_plus(_in_form(one, as_json=as_json))}" for one in several]
    return "&".join(pairs)


def _in_form(value: Any, *, as_json: bool) -> str:
    """A value of a pair: what is not a plain value is JSON."""
    return _json(value) if as_json or isinstance(value, dict | list) else scalar_text(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _fields(value: Any, content: DocumentNode) -> Iterator[tuple[str, Any, DocumentNode]]:
    """Each property, its value, and what `encoding` says of it."""
    if not isinstance(value, dict):
        raise UnsoundError("a form has named fields, and its schema describes none")
    encodings = content.object("encoding")
    for name, held in value.items():
        yield name, held, encodings.object(name)


def multipart(asked: PartialRequest, value: Any, content: DocumentNode) -> tuple[str, str]:
    """The body, a part for each field, and the boundary between them. Raises UnsoundError."""
    described = schema_of(content)
    schema = put_together([described] if described is not None else [])
    parts = []
    for name, held, encoding in _fields(value, content):
        inner = put_together(schema.properties.get(name, ()))
        items = put_together(inner.items)
        several = held if isinstance(held, list) and essence(encoding.text("contentType")) != JSON else [held]
        for one in several:
            is_file = (items if isinstance(held, list) else inner).binary
            parts.append(_part(asked, name, one, encoding, is_file=is_file))
    boundary = _BOUNDARY
    while any(boundary in part for part in parts):
        boundary += "-"
    body = "".join(f"--{boundary}\r\n{part}\r\n" for part in parts)
    return f"{body}--{boundary}--\r\n", boundary


def _part(asked: PartialRequest, name: str, value: Any, encoding: DocumentNode, *, is_file: bool) -> str:
    kinds = [one.strip() for one in encoding.text("contentType").split(",") if essence(one)]
    kind = next((one for one in kinds if not is_range(one)), "")
    if is_file:
        kind = kind or "application/octet-stream"
        if kinds and essence(kind) != "application/octet-stream":
            asked.looks.append(f"the file {name} is {' or '.join(kinds)}, and what is sent is a text")
    elif isinstance(value, dict | list):
        kind = kind or JSON
    file_name = f'; filename="{_quoted(name)}"' if is_file else ""
    fields = [f'Content-Disposition: form-data; name="{_quoted(name)}"{file_name}']
    fields += [f"Content-Type: {kind}"] if kind else []
    for header, described in encoding.objects("headers"):
        if header.lower() != "content-type" and (given := examples_of(described)):
            fields.append(f"{header}: {scalar_text(given[0][0])}")
        elif header.lower() != "content-type" and described.flag("required"):
            asked.looks.append(f"the part {name} lacks its field {header}")
    if any(not re.fullmatch(r"[\t -~\x80-\U0010ffff]*", one) for one in fields):
        raise UnsoundError(f"the part {name} has a field that cannot be sent")
    return "\r\n".join([*fields, "", _json(value) if essence(kind) == JSON else scalar_text(value)])


def _quoted(name: str) -> str:
    """A name in a field of a part, escaped as browsers do (HTML, 4.10.21.8)."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
