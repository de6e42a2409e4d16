"""Takes values from an answer, for later steps of the same check; the engine takes them alike in a journey."""

from __future__ import annotations

import json
import re
from typing import Any

from touchstone.contract.wire import Answer
from touchstone.manifest.journey import Capture


class MissingError(ValueError):
    """An answer that does not hold what is to be captured."""


def capture(wanted: Capture, answer: Answer) -> str:
    """The value: of a pattern its first group, or all that it matches. Raises MissingError."""
    if wanted.json_pointer is not None:
        return _by_pointer(wanted.json_pointer, answer.body)
    text = answer.body.decode("utf-8", "replace")
    if wanted.header is not None:
        value = answer.field(wanted.header)
        if value is None:
            raise MissingError(f"the field {wanted.header}, to be captured, is missing")
        text = value
    if wanted.pattern is None:
        return text
    match = re.search(wanted.pattern, text)
    if match is None:
        raise MissingError(f"nothing that {wanted.pattern} captures")
    return str(match[1] if match.re.groups else match[0])


def _by_pointer(pointer: str, body: bytes) -> str:
    try:
        found: Any = json.loads(body)
    except ValueError as error:
        raise MissingError(f"the body, to be captured from, is not JSON: {error}") from error
    for word in pointer.split("/")[1:]:
        key = word.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise MissingError(f"nothing is at {pointer!r}, to be captured")
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, separators=(",", ":"))
