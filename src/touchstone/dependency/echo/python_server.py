"""An exhibit: the downstream of an article, rewritten from its description.

It is a script, and runs by itself.

Python's `ThreadingHTTPServer` as it comes: a thread and a connection for each request (HTTP/1.0), a backlog of 5, and a
sleep for a delay. The counters and the control port are touchstone's, so that the exhibit is watched like its sound
twin.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

_PAGE = 10_000


class RequestCounters:
    """Everything that is counted."""

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s
        self.lock = threading.Lock()
        self.open = self.in_flight = 0
        self.forget()

    def forget(self) -> None:
        """Set every counter to zero; open connections stay and start the new peaks."""
        with self.lock:
            self.paths: Counter[str] = Counter()
            self.answered = self.opened = 0
            self.peak, self.in_flight_peak = self.open, self.in_flight
            self.log: list[tuple[int, str]] = []

    def stats(self) -> dict[str, Any]:
        """The counters in the form of the engine's echo."""
        with self.lock:
            ids = Counter(name for _, name in self.log)
            return {
                "requests": self.paths.total(),
                "paths": dict(self.paths),
                "answered": self.answered,
                "lost": 0,
                "in_flight": {"now": self.in_flight, "peak": self.in_flight_peak},
                "connections": {"opened": self.opened, "open": self.open, "peak": self.peak},
                "ids": {"received": len(self.log), "distinct": len(ids), "duplicates": len(self.log) - len(ids)},
                "delay_s": self.delay_s,
                "workers": None,
                "fault": {"mode": "off"},
            }

    def page(self, start: int) -> dict[str, Any]:
        """A part of the log of message ids."""
        with self.lock:
            entries = [[n, *entry] for n, entry in enumerate(self.log[start : start + _PAGE], start)]
            return {"total": len(self.log), "next": start + len(entries), "not_logged": 0, "entries": entries}


def downstream(seen: RequestCounters) -> type[BaseHTTPRequestHandler]:
    """The handler that services call."""

    class Downstream(BaseHTTPRequestHandler):
        """Sleeps, and answers."""

        def setup(self) -> None:
            """A connection begins."""
            with seen.lock:
                seen.opened += 1
                seen.open += 1
                seen.peak = max(seen.peak, seen.open)
            super().setup()

        def finish(self) -> None:
            """A connection ends."""
            with seen.lock:
                seen.open -= 1
            super().finish()

        def do_GET(self) -> None:
            """Answer after the delay."""
            arrived = time.monotonic_ns()
            parts = urlsplit(self.path)
            with seen.lock:
                seen.paths[parts.path] += 1
                seen.in_flight += 1
                seen.in_flight_peak = max(seen.in_flight_peak, seen.in_flight)
                seen.log += [(arrived, name) for name in parse_qs(parts.query).get("id", [])]
            time.sleep(seen.delay_s)
            self.send_response(200 if parts.path == "/echo" else 404)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(b"ok")
            with seen.lock:
                seen.in_flight -= 1
                seen.answered += 1

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a line a request would be a defect of its own."""

    return Downstream


def control(seen: RequestCounters) -> type[BaseHTTPRequestHandler]:
    """The handler that touchstone calls."""

    class Control(BaseHTTPRequestHandler):
        """Tells and resets the counters."""

        def do_GET(self) -> None:
            """The counters, or a page of the log."""
            parts = urlsplit(self.path)
            if parts.path == "/_log":
                self._answer(200, seen.page(int(parse_qs(parts.query).get("from", ["0"])[0])))
            else:
                self._answer(200, seen.stats())

        def do_POST(self) -> None:
            """Set the counters to zero; this server has no faults but its own."""
            if self.path == "/_reset":
                seen.forget()
                self._answer(200, {"reset": True})
            elif self.path == "/_fail?mode=off":
                self._answer(200, {"mode": "off"})
            else:
                self._answer(400, {"error": "the Python downstream does not fail on demand"})

        def _answer(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Control


def main() -> None:
    """Serve until a signal ends the process."""
    parser = argparse.ArgumentParser(description="an article's downstream, for comparison")
    parser.add_argument("--delay-ms", type=float, default=10.0)
    seen = RequestCounters(parser.parse_args().delay_ms / 1000)
    server = ThreadingHTTPServer(("127.0.0.1", 0), downstream(seen))
    watched = ThreadingHTTPServer(("127.0.0.1", 0), control(seen))
    threading.Thread(target=watched.serve_forever, daemon=True).start()
    servers = {"listening": server, "control": watched}
    addresses = {name: "{}:{}".format(*found.server_address[:2]) for name, found in servers.items()}
    print(json.dumps(addresses | {"pid": os.getpid()}), flush=True)  # noqa: T201 - touchstone reads this line
    server.serve_forever()


if __name__ == "__main__":
    main()
