"""A small real relay for the tests of the drain: it consumes, calls the downstream, commits. `FAULT` plants a defect.

drop: every tenth message is not called for. double: every tenth is called for twice. disorder: batches go backwards.
die: it ends after fifty messages. idle: it consumes nothing.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType

from confluent_kafka import Consumer

FAULT = os.environ.get("FAULT", "")
COUNTS = {"processed": 0}
STOPPING = threading.Event()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"pong" if self.path == "/ping" else json.dumps(COUNTS).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


def call(name: str) -> None:
    with urllib.request.urlopen(f"{os.environ['DOWNSTREAM_URL']}/echo?id={name}", timeout=10) as response:
        response.read()


def names_to_call(batch: list[str], seen: int) -> list[str]:
    if FAULT == "drop":
        return [name for at, name in enumerate(batch, seen) if at % 10]
    if FAULT == "double":
        return [name for at, name in enumerate(batch, seen) for _ in range(1 if at % 10 else 2)]
    return list(reversed(batch)) if FAULT == "disorder" else batch


def consume() -> None:
    client = Consumer(
        {
            "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP"],
            "group.id": "relay",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 10_000,
        }
    )
    client.subscribe(["benchmark-topic"])
    while not STOPPING.is_set():
        messages = client.consume(20, timeout=0.2)
        names = [json.loads(value)["id"] for m in messages if (value := m.value()) is not None]
        for name in names_to_call(names, COUNTS["processed"]):
            call(name)
        COUNTS["processed"] += len(names)
        if names:
            client.commit(asynchronous=False)
        if FAULT == "die" and COUNTS["processed"] >= 50:
            os._exit(3)
    client.close()


def end(_signal: int, _frame: FrameType | None) -> None:
    STOPPING.set()


signal.signal(signal.SIGTERM, end)
server = ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
if FAULT == "idle":
    STOPPING.wait()
else:
    consume()
