"""A downstream as a user writes one: `prices.py PORT` serves prices, `prices.py ask PORT WHAT` asks it something."""

from __future__ import annotations

import os
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Prices(BaseHTTPRequestHandler):
    """Counts its stockings, the prices that it was asked for since the last, and the files of its folder."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    lock = threading.Lock()
    hits = stocked = 0

    def do_GET(self) -> None:
        """Answer, or end."""
        if self.path == "/die":
            print("out of ink", flush=True)
            os._exit(3)
        with self.lock:
            Prices.hits += self.path == "/price"
            if self.path == "/stock":
                Prices.hits, Prices.stocked = 0, self.stocked + 1
        if self.path == "/keep":
            Path("kept").touch()
        known = {
            "/hits": self.hits,
            "/stocked": self.stocked,
            "/files": " ".join(sorted(path.name for path in Path().iterdir())),
        }
        known |= {"/price": "42", "/rate": "0.5", "/stock": "", "/keep": ""}
        body = str(known.get(self.path, "")).encode()
        self.send_response(200 if self.path in known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        with urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[2]}/{sys.argv[3]}", timeout=20) as answer:
            print(answer.read().decode())
    else:
        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Prices).serve_forever()
