"""A service that keeps notes: create, get, list, delete. It is a contender of test_journeys.py, and runs by itself."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Notes(BaseHTTPRequestHandler):
    """Answers from memory. With `FORGETS` set, every seventh note is not kept."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    lock = threading.Lock()
    kept: dict[int, str] = {}
    last = 0

    def do_POST(self) -> None:
        """Keep a note."""
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
        with self.lock:
            Notes.last += 1
            number = Notes.last
            if not (os.environ.get("FORGETS") and number % 7 == 0):
                self.kept[number] = text
        self._answer(201, {"id": number, "text": text}, Location=f"/notes/{number}")

    def do_GET(self) -> None:
        """Ping, list or give back."""
        with self.lock:
            number = self._number()
            if self.path == "/ping":
                self._answer(200, {"ping": "pong"})
            elif self.path == "/notes":
                self._answer(200, {"notes": list(self.kept)[-10:]})
            elif number in self.kept:
                self._answer(200, {"id": number, "text": self.kept[number]})
            else:
                self._answer(404, {"error": "not found"})

    def do_DELETE(self) -> None:
        """Forget a note."""
        with self.lock:
            found = self.kept.pop(self._number(), None)
        self._answer(404 if found is None else 204, None)

    def _number(self) -> int:
        match = re.fullmatch(r"/notes/([0-9]+)", self.path)
        return int(match[1]) if match else 0

    def _answer(self, status: int, document: object, **fields: str) -> None:
        body = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        if document is not None:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Notes).serve_forever()
