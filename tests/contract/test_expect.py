"""A response is held against an expectation, and all that differs is said."""

from __future__ import annotations

import zlib

import pytest

from tests.contract.raw_server import ask, replay, response
from touchstone.manifest.exchange import Expectation, Request


def expectation(**table: object) -> Expectation:
    return Expectation.model_validate(table)


def faults(wanted: Expectation, raw: bytes, method: str = "GET") -> list[str]:
    return list(ask(replay(raw), Request.model_validate({"method": method, "target": "/", "expect": wanted})).faults)


def test_a_right_response_has_no_fault() -> None:
    wanted = expectation(body="pong {counter}", content_type="text/plain", headers={"X-A": "b+"})
    assert faults(wanted, response(b"pong 1", content_type="text/plain; charset=utf-8", X_A="bb")) == []


@pytest.mark.parametrize(
    ("wanted", "given", "said"),
    [
        ({"status": 200}, response(status=500), "status 500, expected 200"),
        ({"status": [200, 404]}, response(status=405), "200 or 404"),
        ({"body": "pong"}, response(b"pong\n"), r'the body is "pong\n", expected "pong"'),
        ({"body": "pong" * 11}, response(b"pong" * 10 + b"ping"), 'from byte 41 on: 44 bytes, expected 44; "ing"'),
        ({"body": "pong"}, response(b"\xff"), r'the body is b"\xff", expected "pong"'),
        ({"content_type": "text/plain"}, response(content_type="text/html"), "text/html"),
        ({"content_type": "text/html; charset=utf-8"}, response(content_type="text/html"), "charset=utf-8"),
        ({"headers": {"Allow": "GET"}}, response(), "Allow is missing"),
        ({"headers": {"Allow": "GET"}}, response(Allow="POST"), "POST"),
        ({"pattern": "[0-9]+"}, response(b"12a"), "does not match"),
        ({"json": {"a": 1}}, response(b"{"), "not JSON"),
        ({"json": {"a": 1}}, response(b"[1]"), "not an object"),
        ({"json": {"a": 1}}, response(b"{}"), "missing"),
        ({"json": {"a": 19.99}}, response(b'{"a": 19.990000000000002}'), "is 19.990000000000002, expected 19.99"),
        ({"json": {"a": {"type": "integer"}}}, response(b'{"a": true}'), "any integer"),
        ({"json": {"a": 1}, "json_exact": True}, response(b'{"a": 1, "b": 2}'), '"b" is not expected'),
        ({"json": {"a": 1}}, response(b'{"a": true}'), "expected 1"),
        ({"json": {"a": 1}}, response(b'{"a": 1, "a": 1}'), "more than once"),
        ({"json": {"a": [1, 2]}}, response(b'{"a": [2, 1]}'), "expected [1,2]"),
    ],
)
def test_a_wrong_response_says_what_is_wrong(wanted: dict[str, object], given: bytes, said: str) -> None:
    found = faults(expectation(**wanted), given)
    assert any(said in fault for fault in found), found


@pytest.mark.parametrize("body", ['{"n": 1.0}', '{"n": 1}', '{"n": 10e-1}'])
def test_a_number_is_compared_by_value(body: str) -> None:
    assert faults(expectation(json={"n": 1}), response(body.encode())) == []


def test_a_response_to_head_has_no_body() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
    assert faults(expectation(content_type=None), head, "HEAD") == []
    assert "1 bytes follow" in faults(expectation(), head + b"x", "HEAD")[0]


def packed(text: bytes, *, bits: int = 31) -> bytes:
    made = zlib.compressobj(wbits=bits)
    return made.compress(text) + made.flush()


def test_a_compressed_body_is_checked_as_the_text_that_it_stands_for() -> None:
    wanted = expectation(body="pong {counter}", encoding="decoded")
    assert faults(wanted, response(packed(b"pong 1"), content_encoding="gzip")) == []
    assert faults(wanted, response(packed(b"pong 1", bits=15), content_encoding="deflate")) == []
    assert faults(wanted, response(b"pong 1")) == []
    assert 'is "pong 2", expected "pong 1"' in faults(wanted, response(packed(b"pong 2"), content_encoding="gzip"))[0]
    assert "cannot be undone" in faults(wanted, response(b"x", content_encoding="br"))[0]


def test_a_coding_that_nobody_asked_for_is_named() -> None:
    raw = response(packed(b'{"a": 1}'), content_encoding="gzip")
    (said,) = faults(expectation(json={"a": 1}), raw)
    assert "Content-Encoding gzip" in said and "no Accept-Encoding" in said


@pytest.mark.parametrize(
    "pattern",
    ["\x1f\x8b(.|\n)*", r"\x1f\x8b(.|\n)*", r"\u001f\u008b[\s\S]*", r"[\u0010-\u001f]\u008b(?s:.)*", ".{4}\n"],
)
def test_a_pattern_of_bytes_is_of_bytes_however_it_is_written(pattern: str) -> None:
    assert faults(expectation(pattern=pattern, encoding="bytes"), response(b"\x1f\x8b\x08\xff\n")) == []


def test_a_body_of_bytes_is_compared_byte_by_byte() -> None:
    wanted = expectation(body="\x1f\x8b\x08\xff{counter}", encoding="bytes")
    assert faults(wanted, response(b"\x1f\x8b\x08\xff1")) == []
    assert faults(wanted, response(b"\x1f\x8b\x08\xfe1"))


@pytest.mark.parametrize("table", [{"encoding": "bytes"}, {"encoding": "bytes", "body": "€"}])
def test_an_encoding_that_makes_no_sense_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="bytes"):
        expectation(**table)
