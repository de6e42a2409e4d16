"""The body of a request, written as its media type asks."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from touchstone.intake.openapi.form import form, multipart
from touchstone.intake.openapi.media import JSON, essence, is_range, kind, preferred
from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.partial_request import PartialRequest, examples_of, schema_of
from touchstone.intake.openapi.sample import SampleValue, ValueGenerator
from touchstone.intake.openapi.style import scalar_text
from touchstone.intake.openapi.xml import xml

_RANK = ("json", "form", "multipart", "text", "lines", "xml", "bytes")
_WITHOUT = ("get", "head", "delete", "trace")
"""Methods for which OpenAPI 3.0 ignores a body (4.7.10.1); 3.1 has it sent if it is required."""
_CONCRETE = {"text/*": "text/plain", "*/*": JSON, "application/*": JSON, "multipart/*": "multipart/form-data"}


def put_body(
    asked: PartialRequest, operation: DocumentNode, method: str, sampler: ValueGenerator, *, version_3_0: bool
) -> None:
    """Add body and media type, where the operation has any. What is not known is named."""
    try:
        described = operation.object("requestBody")
        content = described.object("content")
        if not described.held:
            return
        if method in _WITHOUT and (version_3_0 or not described.flag("required")):
            asked.notes.append(f"its body is left out: {method.upper()} has none, as OpenAPI says")
            return
        chosen = preferred(content.keys, _RANK)
        if chosen is None:
            raise UnsoundError(f"it has no media type: {', '.join(content.keys) or 'no `content`'}")
        _put(asked, chosen, content.object(chosen), sampler)
    except UnsoundError as error:
        asked.looks.append(f"its body is left out: {error}")


def _put(asked: PartialRequest, media_type: str, content: DocumentNode, sampler: ValueGenerator) -> None:
    if is_range(media_type):
        if essence(media_type) not in _CONCRETE:
            raise UnsoundError(f"any {media_type} may be sent, and what is one is not known")
        asked.looks.append(f"any {media_type} may be sent: is {_CONCRETE[essence(media_type)]} taken?")
        media_type = _CONCRETE[essence(media_type)]
    as_it_is = next((value for value, _ in examples_of(content) if isinstance(value, str)), None)
    if kind(media_type) in ("form", "xml", "lines") and as_it_is is not None:
        # An example of what is not JSON is the text that is sent.
        asked.body = as_it_is
    else:
        sample = _sample(content, sampler)
        asked.take("body", sample)
        asked.body, media_type = _written(asked, media_type, sample.value, content)
    asked.headers["content-type"] = media_type
    if kind(media_type) == "bytes" and essence(media_type) != "application/octet-stream":
        asked.looks.append(f"its body is {essence(media_type)}, and what is sent is a text")


def _sample(content: DocumentNode, sampler: ValueGenerator) -> SampleValue:
    if content.held.get("itemSchema") is None:
        return sampler.sample(schema_of(content), examples_of(content))
    one = sampler.sample(content.child("itemSchema"))
    return replace(one, value=[one.value])


def _written(asked: PartialRequest, media_type: str, value: Any, content: DocumentNode) -> tuple[str, str]:
    """The body, and its media type with the parameters that it needs. Raises UnsoundError."""
    match kind(media_type):
        case "json":
            return json.dumps(value, ensure_ascii=False), media_type
        case "lines":
            several = value if isinstance(value, list) else [value]
            return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in several), media_type
        case "form":
            return form(value, content), media_type
        case "multipart":
            body, boundary = multipart(asked, value, content)
            return body, f"{essence(media_type)}; boundary={boundary}"
        case "xml":
            return xml(asked, value, content), media_type
    return scalar_text(value), media_type
