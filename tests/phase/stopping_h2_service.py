"""The service of `stopping_service.py` over HTTP/2 (RFC 9113), with ways to end that only HTTP/2 has.

From the signal on, `refuses` resets each stream with REFUSED_STREAM. `disowns` sends GOAWAY with a last stream below
those in flight. `resets` resets those with CANCEL. `asks` sends a PING and exits. `graceful` sends GOAWAY and responds.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.phase.stopping_service import MODE, SLOW_S, Service

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
REFUSED_STREAM, CANCEL = 7, 8
OK, UNAVAILABLE = b"\x88", b"\x48\x03503"
SLOW = b"\x61\x14\x1f\xc7"
"""The path `/slow` as a client sends it (RFC 7541, appendix B)."""
HIGHEST = (1 << 31) - 1


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """A frame (section 4.1)."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def goaway(last: int) -> bytes:
    """GOAWAY without an error (section 6.8)."""
    return frame(GOAWAY, 0, 0, last.to_bytes(4, "big") + bytes(4))


class Http2Service(Service):
    """Requests wait as pairs of connection and stream."""

    def __init__(self) -> None:
        super().__init__()
        if self.context is not None:
            self.context.set_alpn_protocols(["h2"])
        self.waiting: list[tuple[float, socket.socket]] = []
        self.greeted: set[socket.socket] = set()
        self.in_flight: dict[socket.socket, int] = {}
        self.answered: dict[socket.socket, int] = {}
        self.away = False

    def receive(self, one: socket.socket) -> None:
        """Read whole frames; HEADERS are a request."""
        data = self.more(one)
        if not data:
            return
        self.received[one] += data
        if one not in self.greeted:
            if not self.received[one].startswith(PREFACE):
                return
            self.received[one] = self.received[one][len(PREFACE) :]
            self.greeted.add(one)
            one.sendall(frame(SETTINGS, 0, 0))
        while one in self.received and len(self.received[one]) >= 9:
            buffer = self.received[one]
            end = 9 + int.from_bytes(buffer[:3], "big")
            if len(buffer) < end:
                return
            self.received[one] = buffer[end:]
            if buffer[3] == SETTINGS and not buffer[4]:
                one.sendall(frame(SETTINGS, 1, 0))
            if buffer[3] == HEADERS:
                self.take(one, int.from_bytes(buffer[5:9], "big"), buffer[9:end])

    def take(self, one: socket.socket, stream: int, block: bytes) -> None:
        self.note("read")
        self.in_flight[one] = stream
        ending = self.ends_since is not None
        if ending and MODE == "refuses":
            self.note("refused")
            one.sendall(frame(RST_STREAM, 0, stream, REFUSED_STREAM.to_bytes(4, "big")))
        elif ending and MODE == "unanswered":
            self.drop(one)
        else:
            self.waiting.append((time.monotonic() + (SLOW_S if SLOW in block else 0.0), one))

    def answer(self, one: socket.socket) -> None:
        """Respond to the stream in flight."""
        ending = self.ends_since is not None
        stream = self.in_flight.pop(one)
        unavailable = ending and MODE == "unavailable"
        response = frame(HEADERS, 4, stream, UNAVAILABLE if unavailable else OK) + frame(DATA, 1, stream, b"hello")
        if MODE == "halfway" and ending:
            one.sendall(response[:-2])
            os._exit(0)
        one.sendall(response + goaway(HIGHEST) if ending and MODE == "graceful" else response)
        self.answered[one] = stream
        self.note("refused" if unavailable else "answered")

    def begin_to_end(self, *_: object) -> None:
        """Say so on each connection, as the mode has it."""
        super().begin_to_end()
        self.away = True

    def say_goodbye(self) -> None:
        """Tell each connection, outside the signal's handler."""
        self.away = False
        for one in list(self.greeted):
            stream = self.in_flight.get(one)
            if MODE == "disowns":
                one.sendall(goaway(self.answered.get(one, 0)))
                self.note("refused")
            elif MODE == "resets" and stream:
                one.sendall(frame(RST_STREAM, 0, stream, CANCEL.to_bytes(4, "big")))
            elif MODE == "asks" and stream:
                one.sendall(frame(PING, 0, 0, bytes(8)))
            elif MODE == "graceful":
                one.sendall(goaway(HIGHEST))
        if MODE in ("disowns", "resets"):
            self.waiting.clear()

    def end(self) -> None:
        """End as `Service` does, once each connection knows."""
        assert self.ends_since is not None
        if self.away:
            # The listener is closed first: clients whose connections are going away do not meet it half closed.
            self.ends_since = time.monotonic()
            super().end()
            self.say_goodbye()
        if MODE in ("disowns", "resets", "refuses", "asks") and time.monotonic() - self.ends_since > 0.1:
            os._exit(0)
        super().end()

    def drop(self, one: socket.socket) -> None:
        """Forget a connection."""
        states: list[Any] = [self.in_flight, self.answered]
        for state in states:
            state.pop(one, None)
        self.greeted.discard(one)
        self.waiting = [pair for pair in self.waiting if pair[1] is not one]
        super().drop(one)


if __name__ == "__main__":
    service = Http2Service()
    signal.signal(signal.SIGTERM, signal.SIG_IGN if MODE == "ignores" else service.begin_to_end)
    service.serve()
