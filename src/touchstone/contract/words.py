"""Requests and expectations as a reader of a report sees them: filled in, cut, and without secrets."""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.engine.ask import RequestValues
from touchstone.manifest.contract import Act, Step
from touchstone.manifest.exchange import LoadRequest, Request, texts_of
from touchstone.manifest.template import parse
from touchstone.record.secret import secrets_of, shown_text, without

_SHOWN = 400
_BODY_SHOWN = 200


def describe(request: Request, values: RequestValues) -> str:
    """The request in a line, long ones cut, without its secrets."""
    target = shown_text(values.fill(request.target, "target"))
    body = "" if request.body is None else f" with {without(values.fill(request.body))!r}"
    line = f"{request.method} {target}{body}"
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}... ({len(line)} characters)"


def expectation_in_words(wanted: LoadRequest, values: RequestValues) -> str:
    """What a response must be, in a line."""
    expected = wanted.expect
    parts = [" or ".join(expected.grpc_statuses or map(str, expected.statuses))]
    if wanted.websocket is not None:
        has_own = expected.body is not None or expected.pattern is not None or expected.json_fields is not None
        parts = ["a message" if has_own else "the same message"]
    if wanted.stream is not None:
        parts.append(f"{wanted.stream.events} events")
    if expected.content_type:
        parts.append(expected.content_type)
    if expected.body is not None:
        body = values.fill(expected.body)
        cut = len(body) > _BODY_SHOWN
        parts.append(repr(f"{body[:_BODY_SHOWN]}... ({len(body)} characters)" if cut else body))
    if expected.pattern is not None:
        parts.append(f"a body like {expected.pattern!r}")
    if expected.encoding != "text":
        parts.append("by its bytes" if expected.encoding == "bytes" else "decoded")
    if expected.json_fields is not None:
        parts.append(f"JSON with {', '.join(expected.json_fields)}")
    parts += [f"{name}: {pattern}" for name, pattern in expected.headers.items()]
    return ", ".join(parts)


def secrets_within(request: Request, values: RequestValues) -> list[str]:
    """What a service must not be quoted with, though it echo the request."""
    return secrets_of((name, values.fill(value, "header")) for name, value in request.headers.items())


def needs(step: Step) -> list[str]:
    """The captured values that a step takes, by name."""
    texts: Iterable[object] = ()
    if isinstance(step, Request):
        texts = texts_of(step).values()
    elif isinstance(step, Act):
        texts = step.with_.values()
    return sorted({name for text in texts if isinstance(text, str) for name in parse(text).names("capture")})
