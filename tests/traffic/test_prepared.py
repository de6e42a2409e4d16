"""What a load's preparation captured is sent in the load's own requests, to the service that gave it."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.contract.raw_server import response, serving
from touchstone.contract.checker import ContractChecker
from touchstone.engine.ask import Response
from touchstone.engine.client import run_job
from touchstone.engine.job import Timing, load_job
from touchstone.manifest.load import Load
from touchstone.record.engine import LoadResult
from touchstone.record.sample import Sample
from touchstone.traffic.prepare import PrepareError, prepare_load, prepare_once

LOGIN = {"target": "/login", "captures": {"token": {"json": "/token"}}}


def load(**more: Any) -> Load:
    return Load.model_validate({"title": "Load", "prepare": [LOGIN], **more})


def first_sent(whole: Load, count: int = 1) -> list[str]:
    """What the engine sends first of a load, request by request."""
    sent: list[bytes] = []

    def behave(connection: socket.socket) -> None:
        """The first request is gone by now: it is the journey's first step, or the same as the second."""
        while len(sent) < count:
            connection.sendall(response(b'{"token":"new"}'))
            sent.append(connection.recv(65536))

    with serving(behave) as port:
        job = load_job(whole, f"http://127.0.0.1:{port}", Timing(0, 0.1, 0), cpus=[], seed=1, fresh="f")
        run_job("load", job, LoadResult)
    return [one.decode() for one in sent]


def test_a_captured_value_stands_where_it_is_named_as_its_place_wants_it() -> None:
    request = {
        "target": "/of/{capture.token}?q={capture.token:url}&{counter}",
        "headers": {"authorization": "Bearer {capture.token}"},
        "method": "POST",
        "body": '{"token":"{capture.token:json}"}',
    }
    whole = load(requests=[request], connections=1).with_captured({"token": 'a {"b'})
    (sent,) = first_sent(whole)
    assert 'POST /of/a%20{"b?q=a%20%7B%22b&' in sent
    assert 'authorization: Bearer a {"b\r\n' in sent
    assert sent.endswith('\r\n\r\n{"token":"a {\\"b"}')


def test_a_step_that_captures_anew_hides_what_was_prepared_from_the_steps_behind_it() -> None:
    steps = [
        {"target": "/first/{capture.token}"},
        {"target": "/renew/{capture.token}", "captures": {"token": {"json": "/token"}}},
        {"target": "/then/{capture.token}"},
    ]
    whole = load(journeys=[{"name": "renew", "steps": steps}], connections=1).with_captured({"token": "old"})
    targets = [one.split(" ")[1] for one in first_sent(whole, 2)]
    assert targets == ["/renew/old", "/then/new"]


def test_a_load_keeps_what_it_captured_when_it_is_changed() -> None:
    given = load(requests=[{"target": "/{capture.token}"}]).with_captured({"token": "t"})
    assert given.model_copy(update={"connections": 2}).captured == {"token": "t"}
    assert "captured" not in given.model_dump()


class _Answers:
    """A service whose logins succeed or do not."""

    def __init__(self, answer: Response) -> None:
        self.answer, self.asked = answer, 0

    def exchanges(self, *_: Any, **__: Any) -> list[Response]:
        self.asked += 1
        return [self.answer]


def _checker(answer: Response) -> tuple[ContractChecker, _Answers]:
    service = _Answers(answer)
    return ContractChecker(cast(Any, service), {}, 1), service


RIGHT = Response(200, captured={"token": "t1"})
WRONG = Response(200, body=b"{}", body_bytes=2, faults=('nothing is at "/token", to be captured',))


def test_a_preparation_gives_what_it_captured() -> None:
    checker, _ = _checker(RIGHT)
    assert prepare_load(checker, load(requests=[{"target": "/"}]), 1) == {"token": "t1"}


def test_a_service_that_outlives_the_round_logs_in_once() -> None:
    checker, service = _checker(RIGHT)
    bench, sample = cast(Any, SimpleNamespace(prepared={}, seed=1)), cast(Sample, SimpleNamespace(left_out=[]))
    logged_in = load(requests=[{"target": "/"}])
    for _ in range(2):
        assert prepare_once(bench, "a", checker, logged_in, sample) == {"token": "t1"}
    assert service.asked == 1


def test_one_whose_login_fails_is_not_loaded_without_it() -> None:
    checker, _ = _checker(WRONG)
    bench, sample = cast(Any, SimpleNamespace(prepared={}, seed=1)), cast(Sample, SimpleNamespace(left_out=[]))
    with pytest.raises(PrepareError):
        prepare_once(bench, "a", checker, load(requests=[{"target": "/"}]), sample)
    said = {"target": "/x", "expect": {"status": 201}}
    plain = Load.model_validate({"title": "Load", "prepare": [said], "requests": [{"target": "/"}]})
    assert prepare_once(bench, "a", checker, plain, sample) == {}
    assert len(sample.left_out) == 1
