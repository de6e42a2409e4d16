"""A small service that drains a topic, one downstream call a message, and misbehaves as the file `behaviour` says."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from confluent_kafka import Consumer, Message

KNOWN = {
    "skip_every",
    "twice_every",
    "shuffle",
    "commit_only",
    "never_commit",
    "stop_after",
}
PLACE = urllib.parse.urlsplit(os.environ["DOWNSTREAM_URL"]).netloc


def read_knobs() -> dict[str, int]:
    lines = (line.partition("=") for line in Path("behaviour").read_text().splitlines())
    found = {name.strip(): int(value) for name, _, value in lines}
    if unknown := set(found) - KNOWN:
        sys.exit(f"there is no knob {unknown}")
    return found


KNOBS = read_knobs()
COUNTED = {"processed": 0}


def knob(name: str) -> int:
    return KNOBS.get(name, 0)


class Pages(BaseHTTPRequestHandler):
    """`/ping`, and `/stats` with what the service says of itself."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        pages = {"/ping": "pong", "/stats": json.dumps(COUNTED)}
        self.answer(200 if self.path in pages else 404, pages.get(self.path, "not found"))

    def do_POST(self) -> None:
        self.answer(405, "method not allowed")

    def answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        if status == 405:
            self.send_header("Allow", "GET")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def work(messages: list[Message]) -> None:
    """Call the downstream for each, over one connection."""
    downstream = http.client.HTTPConnection(PLACE, timeout=10)
    if knob("shuffle"):
        random.Random(1).shuffle(messages)
    for message in messages:
        name = json.loads(message.value() or b"{}").get("id", "")
        COUNTED["processed"] += 1
        number = COUNTED["processed"]
        due = {word: bool(knob(word)) and number % knob(word) == 0 for word in ("skip_every", "twice_every")}
        if knob("commit_only") or due["skip_every"]:
            continue
        for _ in range(1 + due["twice_every"]):
            downstream.request("GET", f"/echo?id={name}")
            downstream.getresponse().read()


def drain(stop: threading.Event) -> None:
    """Drain until the stop event. A member that does not leave keeps its partitions until its session ends."""
    consumer = Consumer(
        {
            "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP"],
            "group.id": "bench",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["bench"])
    while not stop.is_set():
        if knob("stop_after") and COUNTED["processed"] >= knob("stop_after"):
            stop.wait()
            break
        messages = [m for m in consumer.consume(100, timeout=0.2) if m.error() is None]
        if messages:
            work(messages)
            if not knob("never_commit"):
                consumer.commit(asynchronous=False)
    consumer.close()
    os._exit(0)


def main() -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threading.Thread(target=drain, args=(stop,), daemon=True).start()
    ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Pages).serve_forever()


if __name__ == "__main__":
    main()
