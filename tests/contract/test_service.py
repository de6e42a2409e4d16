"""An exchange has its end, whatever the service does, and is read as a load's is."""

from __future__ import annotations

import re
import socket
import time

import pytest

from tests.contract.raw_server import Behaviour, ask, replay, response, serving
from touchstone.contract.values import ValueSource
from touchstone.engine.ask import AskedService, lane, pasted_url, refused
from touchstone.engine.client import EngineError
from touchstone.failure import UsageError
from touchstone.manifest.exchange import Request

WHOLE = response(b"pong")


def drip(head: bytes) -> Behaviour:
    def behave(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(b"x")
            time.sleep(0.05)

    return behave


_GIVEN_UP = r"no whole answer within 0\.4 s"
_UNENDED = rf"{_GIVEN_UP}: 200 with \d+ bytes of a body that did not end"


@pytest.mark.parametrize(
    ("head", "said"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", _UNENDED, id="body"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n", _UNENDED, id="body to the close"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX-Long: ", _GIVEN_UP, id="field"),
        pytest.param(b"HTTP/1.1 2", rf"{_GIVEN_UP}|no answer: not HTTP/1\.1: the status line is .*", id="status line"),
    ],
)
def test_a_drip_that_never_ends_is_given_up(head: bytes, said: str) -> None:
    answer = ask(drip(head), timeout_s=0.4)
    assert answer.status is None
    assert re.fullmatch(said, answer.failure or "")


def test_silence_is_given_up() -> None:
    answer = ask(lambda connection: time.sleep(1.5), timeout_s=0.4)
    assert answer.failure == "no whole answer within 0.4 s"


def test_a_body_that_ends_before_its_length_is_no_answer() -> None:
    answer = ask(replay(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"))
    assert answer.status is None
    assert "closed after" in (answer.failure or "")
    assert answer.faults == (answer.failure,)


def test_interim_responses_are_passed_over() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nContent-Type: text/css\r\n\r\n"
    answer = ask(replay(b"HTTP/1.1 100 Continue\r\n\r\n" + hints + hints + WHOLE))
    assert (answer.status, answer.fields, answer.body) == (200, (("Content-Length", "4"),), b"pong")


def test_a_change_of_protocol_is_the_last_response() -> None:
    answer = ask(replay(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"))
    assert (answer.status, answer.field("upgrade")) == (101, "h2c")


def test_a_head_of_many_and_folded_fields_is_read() -> None:
    fields = "".join(f"X-{number}: value\r\n" for number in range(150))
    raw = f"HTTP/1.1 200 OK\r\n{fields}Set-Cookie: a=1;\r\n  Path=/\r\nContent-Length: 2, 2\r\n\r\nok"
    answer = ask(replay(raw.encode()))
    assert (answer.status, answer.body, answer.field("set-cookie")) == (200, b"ok", "a=1;    Path=/")
    assert len(answer.fields) == 152


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("X : 1\r\n", "white space between the name of a field and its colon"),
        ("X: a\0b\r\n", "a control character in a field value"),
        (f"X: {'a' * 70_000}\r\n", "the head is longer than 64 KiB"),
        ("Content-Length: 1\r\nContent-Length: 2\r\n", "two different values of Content-Length"),
        (" folded: 1\r\n", "a field name that is not a token"),
    ],
)
def test_a_head_that_a_load_does_not_take_is_not_taken(head: str, said: str) -> None:
    answer = ask(replay(f"HTTP/1.1 200 OK\r\n{head}\r\n".encode()))
    assert said in (answer.failure or "")


def test_a_name_leads_to_the_address_that_answers() -> None:
    with serving(replay(WHOLE), "::1") as port:
        service = AskedService(f"http://localhost:{port}")
        if f"[::1]:{port}" not in service.addresses():
            pytest.skip("localhost has no IPv6 address here")
        answer = service.exchange(Request(target="/"), ValueSource(1).next())
        assert (answer.status, answer.address, service.address()) == (200, f"[::1]:{port}", f"[::1]:{port}")


def test_requests_of_a_lane_share_a_connection() -> None:
    def twice(connection: socket.socket) -> None:
        connection.sendall(WHOLE)
        if connection.recv(65536):
            connection.sendall(WHOLE)

    with serving(twice) as port, lane() as shared:
        answers = AskedService.at("127.0.0.1", port).exchanges(
            Request(target="/"), ValueSource(1).next(), repeat=2, lane=shared
        )
    assert [answer.reused for answer in answers] == [False, True]


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        ({"headers": {"content-length": "99"}}, "headers.content-length: "),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "headers.Transfer-Encoding: "),
        ({"headers": {"A b": "1"}}, "headers.A b: "),
        ({"headers": {"A": "1\r\nB: 2"}}, "headers.A: "),
        ({"target": "/sm\u00f8rrebr\u00f8d"}, "target: "),
        ({"target": "/a b"}, "target: "),
        ({"expect": {"pattern": "(?=a)"}}, "expect.body: "),
        ({"expect": {"content_type": "*/*"}}, "expect.content_type: "),
    ],
)
def test_a_request_that_does_not_hold_together_is_refused_by_its_part(wanted: dict[str, object], part: str) -> None:
    request = Request.model_validate({"target": "/", **wanted})
    assert refused([(Request(target="/"), {}), (request, {})])[1].startswith(part)
    with pytest.raises(EngineError):
        AskedService.at("127.0.0.1", 1).exchange(request, ValueSource(1).next())


def test_what_is_sent_has_one_frame_and_the_bytes_that_were_written() -> None:
    sent: list[bytes] = []
    with serving(replay(WHOLE), heard=sent) as port:
        service = AskedService.at("127.0.0.1", port)
        service.exchange(Request(method="POST", target="/a"), ValueSource(1).next())
        service.exchange(Request(target="/b", headers={"host": "shop.test", "x": "\u00e9"}), ValueSource(1).next())
    assert sent[0] == f"POST /a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\n\r\n".encode()
    assert sent[1] == "GET /b HTTP/1.1\r\nhost: shop.test\r\nx: \u00e9\r\n\r\n".encode()


def test_a_pasted_url_is_taken_apart_as_for_a_load() -> None:
    url = pasted_url(" HTTP://localhost:8080/s\u00f8k?q=a b#frag\n")
    assert (url.origin, url.host, url.port) == ("http://localhost:8080", "localhost", 8080)
    assert url.target == "/s%C3%B8k?q=a%20b"
    for text, said in [("localhost:8080", "must begin with http://"), ("http://u:p@h/", "no user name")]:
        with pytest.raises(UsageError, match=said):
            pasted_url(text)
