"""What the manifests say reaches the engine."""

from __future__ import annotations

from typing import Any

import pytest

from touchstone.engine.ask import AskedService, RequestValues
from touchstone.engine.client import run_job
from touchstone.engine.job import Timing, expectation, load_job
from touchstone.manifest.exchange import Expectation
from touchstone.manifest.load import Load
from touchstone.record.engine import LoadResult
from touchstone.traffic.null_server import server


def test_what_is_expected_of_the_head_is_handed_on() -> None:
    wanted = Expectation(body="pong", content_type="text/plain", headers={"ETag": '"[0-9a-f]+"'})
    job = expectation(wanted)
    assert job["content_type"] == "text/plain"
    assert job["headers"] == [("ETag", '"[0-9a-f]+"')]
    assert job["body"] == {"kind": "exact", "value": "pong"}


def test_what_is_not_expected_of_the_head_is_not_named() -> None:
    assert set(expectation(Expectation())) == {"status", "body", "encoding"}


BODY = '{"user": {"name": "{x}", "tags": ["a", {"n": 1}]}, "list": [1, 2.5, true], "n": 1}'
USER = {"name": "{brace}x}", "tags": ["a", {"n": 1}]}


@pytest.mark.parametrize(
    ("fields", "right"),
    [
        ({"user": USER}, True),
        ({"list": [1, 2.5, True]}, True),
        ({"user": {"type": "object"}, "list": {"type": "array"}}, True),
        ({"user": {"name": "{brace}x}"}}, False),
        ({"user": USER | {"more": 1}}, False),
        ({"user": USER | {"tags": ["a", {"n": 2}]}}, False),
        ({"list": [2.5, 1, True]}, False),
        ({"list": [1, 2.5, 1]}, False),
        ({"n": 1.0}, True),
        ({"n": True}, False),
    ],
)
def test_contract_and_load_agree_on_a_json_body(fields: dict[str, Any], right: bool) -> None:
    ping = {"target": "/", "expect": {"json": fields}}
    load = Load.model_validate({"title": "Ping", "connections": 1, "requests": [ping]})
    with server("null", [f"--body={BODY}"], [0]) as null:
        answer = AskedService(null.url).exchange(load.requests[0], RequestValues(counter=1, fresh="f", seed=1))
        job = load_job(load, null.url, Timing(0.0, 0.05, 0.0), cpus=[0], seed=1, fresh=None)
        counts = run_job("load", job, LoadResult).counts
    assert (answer.faults == ()) is right
    assert (counts.ok > 0, counts.errors.wrong_body > 0) == (right, not right)
