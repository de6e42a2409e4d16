"""Clients that keep their connections while a service is asked to end, as those of a load balancer do.

One is at rest after a response, one has sent nothing, one has sent half a request, and one has a request in flight if
the contract has one that takes long enough to be met by a signal.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException
from types import TracebackType
from urllib.parse import urlsplit

from touchstone.manifest.contract import Send
from touchstone.manifest.exchange import Request
from touchstone.manifest.scenario import Scenario
from touchstone.record.process import Ending

_LONG_S = 0.2
"""The lab looks at a process for some hundredths of a second before it sends the signal."""
_BEGUN_S = 0.05
GIVEN_S = 10.0
"""A service has this many seconds from SIGTERM to its end."""


class Lingering:
    """Connections that are opened last, and closed when the service has ended."""

    def __init__(self) -> None:
        self.ending: Ending | None = None
        self._open: list[HTTPConnection] = []
        self._in_flight: HTTPConnection | None = None
        self._since = 0.0

    def __enter__(self) -> Lingering:
        return self

    def stay(self, url: str, requests: Sequence[Request]) -> None:
        """Open them. `requests` are such as the service has answered correctly; the first one is the usual one."""
        if not requests:
            return
        with contextlib.suppress(OSError, HTTPException):
            times = {request.target: self._answered(url, request) for request in requests}
            slowest = max(requests, key=lambda request: times[request.target])
            self._connect(url)
            half = self._connect(url)
            half.sock.sendall(f"GET {requests[0].target} HTTP/1.1\r\n".encode())
            at_rest = self._connect(url)
            _send(at_rest, requests[0])
            at_rest.getresponse().read()
            self.ending = Ending()
            if times[slowest.target] >= _LONG_S:
                self._in_flight = self._connect(url)
                _send(self._in_flight, slowest)
                self.ending.in_flight = slowest.target
                time.sleep(_BEGUN_S)
        self._since = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The service has ended: see whether the request in flight was answered, and close all."""
        if self.ending is not None:
            self.ending.took_s = time.monotonic() - self._since
            self.ending.killed = self.ending.took_s >= GIVEN_S
        if self._in_flight is not None and self.ending is not None and kind is None:
            try:
                self._in_flight.getresponse().read()
            except (OSError, HTTPException) as cut:
                self.ending.cut = f"{type(cut).__name__}: {cut}"
        for connection in self._open:
            connection.close()

    def _answered(self, url: str, request: Request) -> float:
        """How long a request takes, in seconds."""
        began, connection = time.monotonic(), self._connect(url)
        _send(connection, request)
        connection.getresponse().read()
        connection.close()
        return time.monotonic() - began

    def _connect(self, url: str) -> HTTPConnection:
        place = urlsplit(url)
        connection = HTTPConnection(place.hostname or "", place.port, timeout=GIVEN_S)
        self._open.append(connection)
        connection.connect()
        return connection


def plain_requests(scenario: Scenario) -> list[Request]:
    """Requests that may be sent as they stand, and change nothing: that of `ready`, and GETs of the contract."""
    usual = [check for check in scenario.contract if all(isinstance(step, Send) for step in check.steps)]
    sent = [step for check in usual for step in check.steps if isinstance(step, Send)]
    known: list[Request] = [scenario.ready, *sent]
    texts = {request.target: " ".join([request.target, *request.headers.values()]) for request in known}
    plain = [r for r in known if r.method == "GET" and r.body is None and "{" not in texts[r.target]]
    return list({request.target: request for request in plain}.values())


def _send(connection: HTTPConnection, request: Request) -> None:
    connection.request("GET", request.target, headers=dict(request.headers))
