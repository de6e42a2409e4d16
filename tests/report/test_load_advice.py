"""The first wrong answer of a failed load gives the fix."""

from __future__ import annotations

import pytest

from touchstone.record.engine import FirstError
from touchstone.report.load_advice import advice


@pytest.mark.parametrize(
    ("kind", "received", "said"),
    [
        ("wrong_status", "HTTP/1.1 302 Found\r\nlocation: /new\r\n\r\n", "load /new; if 302 is the right answer"),
        ("wrong_status", "HTTP/1.1 404 Not Found\r\n\r\n", "correct the path; if 404"),
        ("wrong_status", "HTTP/2 404\r\nserver: x\r\n\r\n", "correct the path; if 404"),
        ("wrong_status", "HTTP/2 301\r\nlocation: /new\r\n\r\n", "load /new; if 301 is the right answer"),
        ("wrong_status", "HTTP/1.1 421 Misdirected Request\r\n\r\n", "--sni NAME"),
        ("wrong_status", "HTTP/1.1 400 Bad Request\r\n\r\nThe plain HTTP request was sent to HTTPS port", "https://"),
        ("wrong_status", "HTTP/1.0 400 No\r\n\r\nClient sent an HTTP request to an HTTPS server.\n", "https://"),
        ("wrong_status", "HTTP/1.1 400 No\r\n\r\nNo required SSL certificate was sent", "--cert and --key"),
        ("malformed", "\x15\x03\x01\x00\x02\x02\x46", "https://"),
        ("timeout", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata", "a stream of events has no end"),
        ("timeout", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nda", "give --timeout"),
    ],
)
def test_what_to_do(kind: str, received: str, said: str) -> None:
    assert said in (advice(FirstError.model_validate({"class": kind, "received": received})) or "")


@pytest.mark.parametrize(
    ("kind", "received"),
    [("wrong_status", "HTTP/1.1 500 Oops\r\n\r\n"), ("wrong_body", "HTTP/1.1 404 No\r\n\r\n"), ("refused", "")],
)
def test_what_nobody_can_know_is_not_said(kind: str, received: str) -> None:
    assert advice(FirstError.model_validate({"class": kind, "received": received})) is None
