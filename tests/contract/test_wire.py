"""An exchange has its end, whatever the service does."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from touchstone.contract import wire
from touchstone.contract.template import ValueSource
from touchstone.contract.wire import Answer, Service
from touchstone.manifest.exchange import Request

Behaviour = Callable[[socket.socket], None]

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong"


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[int]:
    """A server whose every connection behaves so; ends with the block."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    connection.recv(65536)
                    behaviour(connection)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.close()


def ask(behaviour: Behaviour) -> Answer:
    with serving(behaviour) as port:
        service = Service("127.0.0.1", port, timeout_s=0.4)
        return service.exchange(Request(method="GET", target="/"), ValueSource(1).next())


def drip(head: bytes) -> Behaviour:
    def behave(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(b"x")
            time.sleep(0.05)

    return behave


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", id="body"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n", id="body to the close"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX-Long: ", id="field"),
        pytest.param(b"HTTP/1.1 2", id="status line"),
    ],
)
def test_a_drip_that_never_ends_is_given_up(head: bytes) -> None:
    assert ask(drip(head)) == Answer(None, failure="no whole answer within 0.4 s")


def test_silence_is_given_up() -> None:
    assert ask(lambda connection: time.sleep(1)).status is None


@pytest.mark.parametrize("length", [b"", b"Content-Length: 90000\r\n"], ids=["to the close", "stated"])
def test_a_body_that_is_too_large_is_no_answer(length: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LARGEST", 1000)
    answer = ask(lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n" + b"x" * 90000))
    assert answer == Answer(None, failure="no whole answer: the body is larger than 1000 bytes")


def test_a_body_that_ends_before_its_length_is_no_answer() -> None:
    answer = ask(lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"))
    assert answer.status is None and "IncompleteRead" in (answer.failure or "")


def test_a_whole_answer_is_one() -> None:
    answer = ask(lambda connection: connection.sendall(WHOLE))
    assert (answer.status, answer.body) == (200, b"pong")


def test_interim_responses_are_passed_over() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nContent-Type: text/css\r\n\r\n"
    answer = ask(lambda c: c.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" + hints + hints + WHOLE))
    assert answer == Answer(200, (("Content-Length", "4"),), b"pong")


def test_interim_responses_without_end_are_given_up() -> None:
    def interim(connection: socket.socket) -> None:
        while True:
            connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")
            time.sleep(0.02)

    assert ask(interim) == Answer(None, failure="no whole answer within 0.4 s")


def test_a_change_of_protocol_is_the_last_response() -> None:
    answer = ask(lambda c: c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"))
    assert (answer.status, answer.field("upgrade")) == (101, "h2c")
