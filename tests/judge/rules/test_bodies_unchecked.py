from typing import Any

import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run

from ..sound import fired, loads, sound_run


def expecting(expect: dict[str, Any], method: str = "GET") -> Run:
    run = sound_run()
    for sample in loads(run):
        sample.spec.requests = [{"method": method, "target": "/work", "expect": expect}]
    return run


@pytest.mark.parametrize(
    "expect", [{"status": 200}, {"status": [200, 404]}, {"pattern": ".*"}, {"pattern": r"[\s\S]*"}, {}]
)
def test_any_body_passes(expect: dict[str, Any]) -> None:
    (finding,) = fired(expecting(expect), "bodies-unchecked")
    assert finding.load == "lookup" and finding.severity is Severity.SUSPECT


def test_an_error_that_is_asked_for_is_a_note() -> None:
    (finding,) = fired(expecting({"status": 404}), "bodies-unchecked")
    assert finding.severity is Severity.NOTE


@pytest.mark.parametrize(
    "expect", [{"body": "pong"}, {"body": ""}, {"pattern": r"done \d+"}, {"json": {"id": 1}}, {"status": 204}]
)
def test_a_stated_body(expect: dict[str, Any]) -> None:
    assert not fired(expecting(expect), "bodies-unchecked")


def test_head_has_none() -> None:
    assert not fired(expecting({"status": 200}, method="HEAD"), "bodies-unchecked")


def test_a_redirect_answers_by_its_location() -> None:
    assert not fired(expecting({"status": 302, "headers": {"Location": "/next"}}), "bodies-unchecked")
    assert fired(expecting({"status": [200, 302], "headers": {"Location": "/next"}}), "bodies-unchecked")
    assert fired(expecting({"status": 302, "headers": {"X-Request-Id": ".+"}}), "bodies-unchecked")
