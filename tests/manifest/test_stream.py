"""Streams in a load: their reading, and what of them does not hold together."""

from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.engine.bare import request_without_external_values
from touchstone.engine.job import sent
from touchstone.manifest.exchange import WeightedRequest, texts_of
from touchstone.manifest.journey import JourneyStep
from touchstone.manifest.load import Load
from touchstone.traffic.null_server import null_load

STREAM: dict[str, Any] = {"kind": "sse", "events": 20, "counter": "json.n", "expect": {"json": {"user": "{row.id}"}}}


def request(stream: dict[str, Any], **keys: Any) -> WeightedRequest:
    return WeightedRequest.model_validate({"target": "/s", "stream": stream} | keys)


def test_a_stream_goes_to_the_engine_and_a_request_without_one_has_none() -> None:
    load = Load.model_validate({"title": "s", "requests": [{"target": "/s", "stream": STREAM}, {"target": "/"}]})
    streamed, plain = sent(load)["requests"]
    assert streamed["stream"] == {
        "kind": "sse",
        "events": 20,
        "expect": {"kind": "json", "fields": {"user": "{row.id}"}, "exact": False},
        "counter": "json.n",
        "first": None,
        "stamp": None,
        "event": None,
    }
    assert "stream" not in plain


def test_its_texts_are_templates() -> None:
    wanted = request(STREAM)
    assert texts_of(wanted)["stream", "expect", "json", "user"] == "{row.id}"
    bare = request_without_external_values(wanted).stream
    assert bare is not None and bare.expect.json_fields == {"user": "1"}


def test_the_null_server_is_asked_for_the_number_of_events_alone() -> None:
    load = null_load(Load.model_validate({"title": "s", "requests": [{"target": "/s", "stream": STREAM}]}))
    stream = load.requests[0].stream
    assert stream is not None
    assert (stream.kind, stream.events, stream.counter, stream.expect.json_fields) == ("sse", 20, None, None)


@pytest.mark.parametrize(
    ("stream", "keys", "said"),
    [
        ({"events": 0}, {}, "greater than or equal to 1"),
        ({"counter": "n"}, {}, "match pattern"),
        ({"counter": "json."}, {}, "match pattern"),
        ({"counter": None, "first": 0}, {}, "name `counter`"),
        ({"kind": "lines", "counter": "id"}, {}, "only server-sent events have an id"),
        ({"kind": "chunks", "stamp": "id"}, {}, "only server-sent events have an id"),
        ({"kind": "lines", "event": "price"}, {}, "only server-sent events have a type"),
        ({"kind": "messages"}, {}, "name its method by `grpc`"),
        ({"expect": {"body": "a", "pattern": "b"}}, {}, "checked in one way"),
        ({"expect": {"json_exact": True}}, {}, "goes with `json`"),
        ({"expect": {"status": 200}}, {}, "Extra inputs"),
        ({}, {"method": "HEAD"}, "no body"),
        ({}, {"expect": {"body": "x"}}, "move the body to `stream.expect`"),
        ({}, {"expect": {"json": {"a": 1}}}, "move the body to `stream.expect`"),
    ],
)
def test_what_does_not_fit_is_refused(stream: dict[str, Any], keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        request(STREAM | stream, **keys)


def test_a_stream_gives_captures_from_its_head_alone() -> None:
    step = {"target": "/s", "stream": STREAM}
    assert JourneyStep.model_validate(step | {"captures": {"a": {"header": "x"}}}).captures
    with pytest.raises(ValidationError, match="capture from a header"):
        JourneyStep.model_validate(step | {"captures": {"a": {"json": "/n"}}})


def test_nothing_is_sent_behind_a_stream() -> None:
    with pytest.raises(ValidationError, match="a pipeline of 1"):
        Load.model_validate({"title": "s", "pipeline": 2, "requests": [{"target": "/s", "stream": STREAM}]})
