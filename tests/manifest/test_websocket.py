"""Messages over WebSockets in a load: their reading, and what of them does not hold together."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.engine.job import sent
from touchstone.manifest.contract import Check, Send
from touchstone.manifest.exchange import Request
from touchstone.manifest.load import Load
from touchstone.manifest.scenario import Scenario
from touchstone.traffic.null_server import null_load

ECHO: dict[str, Any] = {"target": "/e", "body": "n-{counter}", "websocket": {"kind": "echo"}}


def load(*requests: dict[str, Any], **keys: Any) -> Load:
    return Load.model_validate({"title": "e", "requests": list(requests)} | keys)


def test_a_message_goes_to_the_engine_and_no_status_is_asked_for() -> None:
    (message,) = sent(load(ECHO | {"websocket": {"kind": "echo", "greetings": 2}}))["requests"]
    assert message["websocket"] == {"kind": "echo", "greetings": 2}
    assert (message["expect"]["status"], message["expect"]["body"]) == (None, {"kind": "any"})
    (plain,) = sent(load({"target": "/"}))["requests"]
    assert "websocket" not in plain and plain["expect"]["status"] == [200]


def test_the_null_server_echoes_whatever_the_service_must_answer() -> None:
    wanted = ECHO | {"body": "{row.id}", "expect": {"json": {"ok": True}}}
    (message,) = sent(null_load(load(wanted)))["requests"]
    assert message["expect"]["body"] == {"kind": "any"} and message["body"] == "1"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"body": None}, "name it in `body`"),
        ({"method": "POST"}, "leave `method` out"),
        ({"expect": {"status": 101}}, "leave `expect.status` out"),
        ({"expect": {"headers": {"a": "b"}, "content_type": "a/b"}}, "`expect.content_type`, `expect.headers` out"),
        ({"expect": {"body": "x", "encoding": "decoded"}}, "leave `expect.encoding` out"),
        ({"stream": {"kind": "sse", "events": 1}}, "leave `stream` out"),
        ({"websocket": {"kind": "fan"}}, "echo"),
        ({"websocket": {"kind": "echo", "greetings": -1}}, "greater than or equal to 0"),
    ],
)
def test_what_a_message_cannot_have_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        load({key: value for key, value in (ECHO | change).items() if value is not None})


def test_a_load_has_one_handshake() -> None:
    assert len(load(ECHO, ECHO | {"body": "other"}).requests) == 2
    for other in ({"target": "/"}, ECHO | {"target": "/f"}, ECHO | {"headers": {"Origin": "http://a"}}):
        with pytest.raises(ValidationError, match=r"not both|the same connections"):
            load(ECHO, other)
    step = {"name": "s", **ECHO}
    with pytest.raises(ValidationError, match="leave `websocket` out"):
        Load.model_validate({"title": "e", "journeys": [{"name": "j", "steps": [step]}]})
    with pytest.raises(ValidationError, match=r"opened over HTTP/1\.1"):
        load(ECHO, protocol="h2c")


def test_messages_are_sent_where_a_websocket_can_be_opened() -> None:
    with pytest.raises(ValidationError, match="websocket"):
        Request.model_validate(ECHO)
    with pytest.raises(ValidationError, match="leave `tally` out"):
        Send.model_validate(ECHO | {"tally": {"200": 1}})
    call = {"grpc": "grpc.health.v1.Health/Check"}
    with pytest.raises(ValidationError, match="write two checks"):
        Check.model_validate({"id": "a", "says": "a", "steps": [ECHO, call]})
    check = Check.model_validate({"id": "a", "says": "a", "steps": [ECHO]})
    assert check.is_over("h1") and not check.is_over("h2")
    with pytest.raises(ValidationError, match=r"opened over HTTP/1\.1"):
        load({"target": "/"}, protocol="h2c", prepare=[ECHO])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"ready": ECHO | {"body": "a"}, "protocol": "h2c"}, "ready: a WebSocket is opened over HTTP/1.1"),
        ({"protocol": "h2c"}, "the check echo opens a WebSocket, over HTTP/1.1, and everything speaks HTTP/2"),
        ({"ready": ECHO | {"body": "a", "stream": {"kind": "sse", "events": 1}}}, "stream"),
    ],
)
def test_a_scenario_opens_websockets_over_http_1(changes: dict[str, Any], why: str) -> None:
    scenario = {"schema": 1, "name": "s", "title": "s", "summary": "s", "ready": ECHO | {"body": "a"}}
    scenario["contract"] = [{"id": "echo", "says": "it echoes", "steps": [ECHO]}]
    scenario["loads"] = {"plain": {"title": "p", "requests": [{"target": "/"}]}}
    assert Scenario.model_validate(scenario).ready.websocket is not None
    with pytest.raises(ValidationError, match=re.escape(why)):
        Scenario.model_validate(scenario | ({"ready": {"target": "/"}} if "ready" not in changes else {}) | changes)
