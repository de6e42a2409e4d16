"""Holds an answer against an expectation."""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

from touchstone.contract.template import Values
from touchstone.contract.wire import LARGEST, Answer
from touchstone.manifest.exchange import Expectation
from touchstone.manifest.expected_json import JsonType

_SHORT = 40
"""Bytes of a body that can be compared at a glance."""
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""What zlib is told of the format; `deflate` means zlib's own (RFC 9110 section 8.4.1.2)."""
JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
"""An integer is a number, too: the narrower one comes first."""


def faults(expected: Expectation, answer: Answer, values: Values, *, body_expected: bool = True) -> list[str]:
    """What is wrong with the answer, a sentence each; none if it is right.

    `body_expected` is false for HEAD, whose answer has the fields of a GET and no body.
    """
    if answer.failure:
        return [answer.failure]
    found = []
    if answer.status not in expected.statuses:
        found.append(f"status {answer.status} instead of {' or '.join(map(str, expected.statuses))}")
    if expected.content_type is not None and answer.media_type != expected.content_type.lower():
        found.append(f"content type {answer.media_type or '(none)'} instead of {expected.content_type}")
    for name, pattern in expected.headers.items():
        value = answer.field(name)
        if value is None:
            found.append(f"field {name} is missing")
        elif not re.fullmatch(pattern, value):
            found.append(f"field {name} is {value!r}, which is not {pattern!r}")
    if body_expected:
        found += _body_faults(expected, answer, values)
    elif answer.body:
        found.append(f"a body of {_size(answer.body)} where none may be")
    return found


def expectation_in_words(expected: Expectation, values: Values) -> str:
    """The expectation in a line, for the report."""
    parts = [" or ".join(map(str, expected.statuses))]
    if expected.content_type:
        parts.append(expected.content_type)
    if expected.body is not None:
        body = values.fill(expected.body)
        parts.append(repr(body if len(body) <= 200 else f"{body[:200]}... ({len(body)} characters)"))
    if expected.pattern is not None:
        parts.append(f"a body like {expected.pattern!r}")
    if expected.encoding != "text":
        parts.append("by its bytes" if expected.encoding == "bytes" else "decoded")
    if expected.json_fields is not None:
        parts.append(f"JSON with {', '.join(expected.json_fields)}")
    parts += [f"{name}: {pattern}" for name, pattern in expected.headers.items()]
    return ", ".join(parts)


def _body_faults(expected: Expectation, answer: Answer, values: Values) -> list[str]:
    body, written = answer.body, "latin-1" if expected.encoding == "bytes" else "utf-8"
    if expected.encoding == "decoded":
        try:
            body = decoded(answer)
        except ValueError as error:
            return [str(error)]
    if expected.body is not None:
        wanted = values.fill(expected.body).encode(written)
        return [] if body == wanted else [_difference(wanted, body)]
    if expected.pattern is not None:
        text = body.decode(written, "replace")
        flags = re.ASCII if expected.encoding == "bytes" else re.NOFLAG
        if re.fullmatch(values.fill(expected.pattern), text, flags):
            return []
        return [f"body is not like {expected.pattern!r}"]
    if expected.json_fields is not None:
        return _json_faults(expected, body, values)
    return []


def decoded(answer: Answer) -> bytes:
    """The body with its content codings undone, the last first. Raises ValueError with the reason if it cannot be."""
    body = answer.body
    for coding in reversed((answer.field("content-encoding") or "").lower().replace(" ", "").split(",")):
        if coding in ("", "identity"):
            continue
        if coding not in _WINDOW_BITS:
            raise ValueError(f"the lab cannot undo Content-Encoding {coding}; it knows {', '.join(_WINDOW_BITS)}")
        undo = zlib.decompressobj(_WINDOW_BITS[coding])
        try:
            body = undo.decompress(body, LARGEST)
        except zlib.error as error:
            raise ValueError(f"the body is said to be {coding}, and is not: {error}") from error
        if not undo.eof or undo.unused_data:
            what = f"larger than {LARGEST} bytes" if undo.unconsumed_tail else "not whole, or followed by more"
            raise ValueError(f"the body is {coding}, and {what}")
    return body


def _difference(wanted: bytes, found: bytes) -> str:
    """What is different: short bodies as they are, of longer ones the place from where on they differ."""
    if max(len(wanted), len(found)) <= _SHORT:
        return f"body is {_shown(found)} instead of {_shown(wanted)}"
    same = next(
        (i for i, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b), min(len(wanted), len(found))
    )
    return (
        f"body differs from byte {same} on: {_size(found)} instead of {len(wanted)}, "
        f"{found[same : same + _SHORT]!r} instead of {wanted[same : same + _SHORT]!r}"
    )


def _size(body: bytes) -> str:
    return "1 byte" if len(body) == 1 else f"{len(body)} bytes"


def _shown(body: bytes) -> str:
    """As text where it is text, else as bytes."""
    try:
        return repr(body.decode())
    except UnicodeDecodeError:
        return repr(body)


def _json_faults(expected: Expectation, body: bytes, values: Values) -> list[str]:
    try:
        document = json.loads(body)
    except ValueError as error:
        return [f"body is not JSON: {error}"]
    if not isinstance(document, dict):
        return [f"body is a JSON {type(document).__name__}, not an object"]
    wanted = expected.json_fields or {}
    found = []
    for name, value in wanted.items():
        if name not in document:
            found.append(f"JSON field {name!r} is missing")
        elif isinstance(value, JsonType):
            if not is_type(document[name], value.type):
                found.append(f"JSON field {name!r} is {document[name]!r}, not a {value.type}")
        elif not _same(filled := values.fill(value) if isinstance(value, str) else value, document[name]):
            found.append(f"JSON field {name!r} is {document[name]!r} instead of {filled!r}")
    if expected.json_exact and (others := sorted(set(document) - set(wanted))):
        found.append(f"JSON fields that should not be there: {', '.join(others)}")
    return found


def _same(wanted: Any, found: Any) -> bool:
    """Whether two JSON values are equal as the engine has it: 1 is neither 1.0 nor true, and objects have no order."""
    if type(wanted) is not type(found):
        return False
    if isinstance(wanted, dict):
        return wanted.keys() == found.keys() and all(_same(value, found[name]) for name, value in wanted.items())
    if isinstance(wanted, list):
        return len(wanted) == len(found) and all(map(_same, wanted, found))
    return bool(wanted == found)


def is_type(value: Any, name: str) -> bool:
    """Whether a value of JSON is of a type of `JSON_TYPES`."""
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, JSON_TYPES[name])
