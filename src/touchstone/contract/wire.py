"""Sends one request as it stands, and reads the whole answer. Nothing is normalised, followed or retried."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.contract.template import Values
from touchstone.manifest.exchange import Request
from touchstone.record.secret import secrets_of, shown_text, without

_SHOWN = 400
LARGEST = 64 * 2**20
"""No answer to a check is larger, in bytes."""


@dataclass(frozen=True)
class Answer:
    """A response: status, fields in their order, and the body's bytes; or the reason why none came."""

    status: int | None
    fields: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    failure: str | None = None

    def field(self, name: str) -> str | None:
        """The value of a field, several joined as RFC 9110 section 5.3 says."""
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        return ", ".join(values) if values else None

    @property
    def media_type(self) -> str:
        """That of its body, in lower case and without parameters; empty if it has none."""
        return (self.field("content-type") or "").partition(";")[0].strip().lower()

    def __str__(self) -> str:
        if self.failure:
            return self.failure
        text = self.body.decode("utf-8", "replace")
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(self.body)} bytes)"
        return f"{self.status} {self.field('content-type') or '(no content type)'}: {shown!r}"


@dataclass(frozen=True)
class Service:
    """Where the service under check listens."""

    host: str
    port: int
    timeout_s: float = 15.0

    def exchange(self, request: Request, values: Values) -> Answer:
        """Send `request` on a fresh connection. A failure to get an answer is an answer, too.

        The whole exchange has `timeout_s`: a service that sends a byte now and then does not hold the lab up.
        """
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.timeout_s)
        connection.response_class = _FinalResponse
        overdue = threading.Event()
        try:
            connection.connect()
            with _time_limit(connection.sock, self.timeout_s, overdue):
                answer = _converse(connection, request, values)
        except (OSError, http.client.HTTPException) as error:
            answer = Answer(None, failure=f"no answer: {type(error).__name__} {error}".rstrip())
        finally:
            connection.close()
        return Answer(None, failure=f"no whole answer within {self.timeout_s:g} s") if overdue.is_set() else answer


class _FinalResponse(http.client.HTTPResponse):
    """The response that ends an exchange: interim ones may come before it (RFC 9110, section 15.2)."""

    def begin(self) -> None:
        """Read the head, and those of interim responses before it. 101 is final: the connection leaves HTTP/1.1."""
        super().begin()
        while self.status < http.HTTPStatus.OK and self.status != http.HTTPStatus.SWITCHING_PROTOCOLS:
            self.headers = self.msg = None  # type: ignore[assignment]  # else it takes the head for read
            super().begin()


def _converse(connection: http.client.HTTPConnection, request: Request, values: Values) -> Answer:
    body = None if request.body is None else values.encoded(request.body, request.encoding)
    connection.putrequest(request.method, values.fill(request.target, "target"), skip_accept_encoding=True)
    for name, value in request.headers.items():
        connection.putheader(name, values.fill(value, "header"))
    if body is not None and not any(name.lower() == "content-length" for name in request.headers):
        connection.putheader("Content-Length", str(len(body)))
    connection.putheader("Connection", "close")
    connection.endheaders(body)
    response = connection.getresponse()
    content = _read(response)
    if len(content) > LARGEST:
        return Answer(None, failure=f"no whole answer: the body is larger than {LARGEST} bytes")
    return Answer(response.status, tuple(response.getheaders()), content)


@contextlib.contextmanager
def _time_limit(opened: socket.socket, seconds: float, overdue: threading.Event) -> Iterator[None]:
    """Shut the socket when its time is over, whatever its peer does meanwhile; `overdue` then says so."""

    def give_up() -> None:
        overdue.set()
        with contextlib.suppress(OSError):  # it may have ended in the meantime
            opened.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, give_up)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _read(response: http.client.HTTPResponse) -> bytes:
    """The body; of one that is too large, a byte more than is allowed."""
    if response.length is not None and response.length <= LARGEST:
        return response.read()  # which alone tells that a body ended before its length
    return response.read(LARGEST + 1)


def describe(request: Request, values: Values) -> str:
    """The request in a line, long ones cut, without its secrets."""
    target = shown_text(values.fill(request.target, "target"))
    body = "" if request.body is None else f" with {without(values.fill(request.body))!r}"
    line = f"{request.method} {target}{body}"
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}... ({len(line)} characters)"


def secrets_within(request: Request, values: Values) -> list[str]:
    """What a service must not be quoted with, though it echo the request."""
    return secrets_of((name, values.fill(value, "header")) for name, value in request.headers.items())
