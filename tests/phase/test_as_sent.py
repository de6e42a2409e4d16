"""What a load's preparation captured is sent in the load's own requests, to the service that gave it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from touchstone.contract.checker import Checker
from touchstone.contract.wire import Answer
from touchstone.manifest.load import Load
from touchstone.manifest.template import parse
from touchstone.phase.load.as_sent import as_sent
from touchstone.phase.load.prepare import PrepareError, prepare_load, prepare_once
from touchstone.record.sample import Sample

LOGIN = {"target": "/login", "captures": {"token": {"json": "/token"}}}


def load(**more: Any) -> Load:
    return Load.model_validate({"title": "Load", "prepare": [LOGIN], **more})


def test_a_captured_value_stands_where_it_is_named_as_its_place_wants_it() -> None:
    request = {
        "target": "/of/{capture.token}?q={capture.token:url}&{counter}",
        "headers": {"authorization": "Bearer {capture.token}"},
        "body": '{"token":"{capture.token:json}","other":"{capture.other}"}',
        "expect": {"json": {"token": "{capture.token}"}},
    }
    (sent,) = as_sent(load(requests=[request]), {"token": 'a {"b'}).requests
    assert sent.target == '/of/a%20{brace}"b?q=a%20%7B%22b&{counter}'
    assert sent.headers == {"authorization": 'Bearer a {brace}"b'}
    assert sent.body == '{"token":"a {brace}\\"b","other":"{capture.other}"}'
    assert sent.expect.json_fields == {"token": 'a {brace}"b'}
    assert "".join(map(str, parse(sent.headers["authorization"]).pieces)) == 'Bearer a {"b'


def test_a_step_that_captures_anew_hides_what_was_prepared_from_the_steps_behind_it() -> None:
    steps = [
        {"target": "/first/{capture.token}"},
        {"target": "/renew/{capture.token}", "captures": {"token": {"json": "/token"}}},
        {"target": "/then/{capture.token}"},
    ]
    (journey,) = as_sent(load(journeys=[{"name": "renew", "steps": steps}]), {"token": "old"}).journeys
    assert [step.target for step in journey.steps] == ["/first/old", "/renew/old", "/then/{capture.token}"]


def test_a_load_without_captured_values_is_as_it_was() -> None:
    whole = load(requests=[{"target": "/{capture.token}"}])
    assert as_sent(whole, {}) is whole


class _Answers:
    """A service whose logins succeed or do not."""

    def __init__(self, body: bytes) -> None:
        self.body, self.asked = body, 0

    def exchange(self, *_: Any) -> Any:
        self.asked += 1
        return Answer(200, body=self.body)


def _checker(body: bytes) -> tuple[Checker, _Answers]:
    service = _Answers(body)
    return Checker(cast(Any, service), {}, 1), service


def test_a_preparation_gives_what_it_captured() -> None:
    checker, _ = _checker(b'{"token":"t1"}')
    assert prepare_load(checker, load(requests=[{"target": "/"}]), 1) == {"token": "t1"}


def test_a_service_that_outlives_the_round_logs_in_once() -> None:
    checker, service = _checker(b'{"token":"t1"}')
    bench, sample = cast(Any, SimpleNamespace(prepared={}, seed=1)), cast(Sample, SimpleNamespace(left_out=[]))
    logged_in = load(requests=[{"target": "/"}])
    for _ in range(2):
        assert prepare_once(bench, "a", checker, logged_in, sample) == {"token": "t1"}
    assert service.asked == 1


def test_one_whose_login_fails_is_not_loaded_without_it() -> None:
    checker, _ = _checker(b"{}")
    bench, sample = cast(Any, SimpleNamespace(prepared={}, seed=1)), cast(Sample, SimpleNamespace(left_out=[]))
    with pytest.raises(PrepareError):
        prepare_once(bench, "a", checker, load(requests=[{"target": "/"}]), sample)
    said = {"target": "/x", "expect": {"status": 201}}
    plain = Load.model_validate({"title": "Load", "prepare": [said], "requests": [{"target": "/"}]})
    assert prepare_once(bench, "a", checker, plain, sample) == {}
    assert len(sample.left_out) == 1
