"""Sends one request as it stands, and reads the whole answer. Nothing is normalised, followed or retried."""

from __future__ import annotations

import http.client
from dataclasses import dataclass

from touchstone.contract.template import Values
from touchstone.manifest.exchange import Request

_SHOWN = 400


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
        """Send `request` on a fresh connection. A failure to get an answer is an answer, too."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.timeout_s)
        body = None if request.body is None else values.fill(request.body).encode()
        try:
            connection.putrequest(request.method, values.fill(request.target), skip_accept_encoding=True)
            for name, value in request.headers.items():
                connection.putheader(name, values.fill(value))
            if body is not None and not any(name.lower() == "content-length" for name in request.headers):
                connection.putheader("Content-Length", str(len(body)))
            connection.putheader("Connection", "close")
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response.status, tuple(response.getheaders()), response.read())
        except (OSError, http.client.HTTPException) as error:
            return Answer(None, failure=f"no answer: {type(error).__name__} {error}".rstrip())
        finally:
            connection.close()


def describe(request: Request, values: Values) -> str:
    """The request in a line, long ones cut."""
    target = values.fill(request.target)
    body = "" if request.body is None else f" with {values.fill(request.body)!r}"
    line = f"{request.method} {target}{body}"
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}... ({len(line)} characters)"
