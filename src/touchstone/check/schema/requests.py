"""Rules of requests: bodies, expectations, captures, placeholders, loads and mixes."""

from __future__ import annotations

from touchstone.check.schema.forms import (
    FILLED,
    TWO,
    Schema,
    each,
    either,
    has,
    keys,
    lacks,
    named,
    never,
    when,
    without,
)
from touchstone.manifest.annotation import Model
from touchstone.manifest.contract import Act, Proof, Send
from touchstone.manifest.exchange import Expectation, Request, WeightedRequest
from touchstone.manifest.journey import Capture, JourneyStep
from touchstone.manifest.load import Load
from touchstone.manifest.mix import Mix
from touchstone.manifest.scenario import Ready
from touchstone.manifest.spoken import ProtocolKeys, TlsSettings
from touchstone.manifest.stream import EventExpectation, Stream
from touchstone.manifest.template import CONSTANT, placeholder

_ENVIRONMENT = r"env\.[^}]*"
_OF_ENVIRONMENT, _OF_ROWS = rf"\{{{_ENVIRONMENT}\}}", r"\{row\.[^}]*\}"
_ONE_BYTE_EACH: Schema = {"pattern": "^[\\u0000-\\u00ff]*$"}
_WRITTEN: Schema = {"anyOf": [{"type": "string", "minLength": 1}, {"type": "object", "minProperties": 1}]}
_NO_BODY: Schema = {"type": "integer", "anyOf": [{"enum": [204, 304]}, {"maximum": 199}]}
_STATUS: Schema = {"minimum": 100, "maximum": 599}
_BODIES = ("body", "pattern", "json")


def texts(rule: Schema) -> Schema:
    """A request whose every text with placeholders is such a one."""
    expected = keys(body=rule, pattern=rule, json=each(rule))
    return keys(target=rule, body=rule, headers=each(rule), expect=expected)


def no_answer_is_read(status: Schema) -> list[Schema]:
    """Expectations with such a status compare no body."""
    return [never(status, has(**{name: _WRITTEN})) for name in _BODIES]


FIXED = texts(without(placeholder(_ENVIRONMENT, *CONSTANT)))
"""A request of which nothing but environment variables is filled in."""

_CONSTANT_PATTERN = keys(pattern=without(placeholder("fresh", *CONSTANT)))
_OF_STREAM: list[Schema] = [
    never(has("stream"), has(method="HEAD")),
    *(never(has("stream"), has(expect=has(name))) for name in _BODIES),
]
_OF_LOAD: list[Schema] = [keys(expect=_CONSTANT_PATTERN, stream=keys(expect=_CONSTANT_PATTERN)), *_OF_STREAM]

RULES: dict[Model, list[Schema]] = {
    Expectation: [
        *(never(has(one), has(other)) for one, other in (("body", "pattern"), ("body", "json"), ("pattern", "json"))),
        when(has(encoding="bytes"), either(has("body"), has("pattern"))),
        when(has(encoding="bytes"), keys(body=_ONE_BYTE_EACH, pattern=_ONE_BYTE_EACH)),
        when(has(encoding="decoded"), either(*map(has, _BODIES))),
        when(has(json_exact=True), has("json")),
        keys(status={"minItems": 1, "items": _STATUS, **_STATUS}),
        *no_answer_is_read(has(status={"anyOf": [_NO_BODY, {"type": "array", "items": _NO_BODY}]})),
        keys(**dict.fromkeys(("body", "pattern"), without(_OF_ENVIRONMENT)), json=each(without(_OF_ENVIRONMENT))),
    ],
    Request: [
        either(has("target"), has("grpc")),
        never(has("body"), has("body_file")),
        when(has(encoding="bytes"), either(has("body"), has("body_file"))),
        when(has(encoding="bytes"), keys(body=_ONE_BYTE_EACH)),
        keys(target={"pattern": "^[!-~]+$"}),
        keys(headers=named(r"^(?:[Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[Ll][Ee][Nn][Gg][Tt][Hh])$")),
        keys(headers=named(r"^(?:[Tt][Rr][Aa][Nn][Ss][Ff][Ee][Rr]-[Ee][Nn][Cc][Oo][Dd][Ii][Nn][Gg])$")),
        keys(headers={"propertyNames": {"pattern": r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"}}),
        *(never(has(method="HEAD"), has(expect=has(**{name: _WRITTEN}))) for name in _BODIES),
    ],
    Ready: [FIXED],
    Send: [
        *_OF_STREAM,
        texts(without(_OF_ROWS)),
        when(has(concurrent=TWO), has(repeat=TWO)),
        keys(tally={"propertyNames": {"pattern": "^0*[1-5][0-9][0-9]$"}}),
    ],
    Act: [keys(**{"with": each(without(rf"{_OF_ENVIRONMENT}|{_OF_ROWS}"))})],
    Proof: [keys(query=without(rf"{_OF_ENVIRONMENT}|{_OF_ROWS}"))],
    EventExpectation: [
        *(never(has(one), has(other)) for one, other in (("body", "pattern"), ("body", "json"), ("pattern", "json"))),
        when(has(json_exact=True), has("json")),
    ],
    Stream: [
        when(has("event"), has(kind="sse")),
        *(when(has(**{name: {"const": "id"}}), has(kind="sse")) for name in ("counter", "stamp")),
        when(has("first"), has("counter")),
    ],
    WeightedRequest: _OF_LOAD,
    JourneyStep: _OF_LOAD,
    Capture: [either(*map(has, ("json", "header", "pattern"))), when(has("json"), lacks("header", "pattern"))],
    Mix: [
        {"oneOf": [has(requests=FILLED), has(journeys=FILLED)]},
        when(
            lacks("rows"),
            keys(
                requests=each(texts(without(_OF_ROWS))),
                journeys=each(keys(steps=each(texts(without(_OF_ROWS))))),
            ),
        ),
    ],
    TlsSettings: [never(has("ca_file", verify=False)), when(has("key"), has("cert"))],
    ProtocolKeys: [
        never(has(protocol="h2", tls=False)),
        never(has(protocol="h2c", tls={"anyOf": [{"const": True}, {"type": "object"}]})),
    ],
}
_TIMED: Schema = {"enum": ["open", "steps", "ramp"]}
_HTTP_1 = either(has(protocol="h1"), {**has("tls"), **lacks("protocol")})
_HTTP_2 = has(protocol={"enum": ["h2c", "h2"]})
NOT_OF_HTTP_1 = never(has(streams=TWO))
NOT_OF_HTTP_2: Schema = {"allOf": [never(has(pipeline=TWO)), never(has(keepalive=False))]}

RULES[Load] = [
    when(has("rate"), has(loop=_TIMED)),
    when(has("arrivals"), has(loop=_TIMED)),
    when(has(loop=_TIMED), has("rate")),
    when(has("steps"), has(loop="steps")),
    when(has(loop="steps"), has("steps")),
    never(has(journeys=FILLED), either(has(pipeline=TWO), has(streams=TWO))),
    never(has(pipeline=TWO), has(keepalive=False)),
    never(
        has("requests_per_connection"),
        either(has(keepalive=False), has(pipeline=TWO), has(journeys=FILLED), _HTTP_2),
    ),
    when(_HTTP_1, NOT_OF_HTTP_1),
    when(_HTTP_2, NOT_OF_HTTP_2),
    keys(proofs=each(keys(query=without(placeholder("fresh", *CONSTANT))))),
]
