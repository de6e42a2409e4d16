"""Streamed responses of a small service: the engine names the fault planted in each, and accuses nothing sound."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from touchstone.phase.load.figures import load_figures
from touchstone.record.engine import LoadResult

from .test_schema import carried_out

EVENTS = 20


class Service(BaseHTTPRequestHandler):
    """Streams numbered events; the query names the fault."""

    protocol_version = "HTTP/1.1"
    sent = 0

    def do_GET(self) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        fault = query.get("fault", "")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        held = b""
        for number in order(fault):
            time.sleep(0.3 if (fault, number) == ("stall", 10) else 0.004)
            data = json.dumps({"n": number, "t": time.time(), "user": query["user"], "é": "€"}, ensure_ascii=False)
            if fault == "another" and number == 3:
                data = data.replace(f'"user": "{query["user"]}"', '"user": "someone"')
            event = f"id: {number}\ndata: {data}\n\n".encode()
            if fault == "buffered":
                held += event
            elif fault == "odd":
                odd = b": beat\r\n\r\nretry: 5\r\n" + event.replace(b"\n", b"\r\n")
                cut = odd.index("€".encode()) + 1
                self.chunk(odd[:cut])
                self.chunk(odd[cut:])
            else:
                self.chunk(event)
        if held:
            self.chunk(held)
        self.wfile.write(b"0\r\n\r\n")

    def chunk(self, part: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def order(fault: str) -> list[int]:
    numbers = list(range(EVENTS))
    if fault == "lost":
        Service.sent += 1
        # An event of a thousand: one in the tenth of these streams.
        return numbers[:7] + numbers[8:] if Service.sent == 10 else numbers
    return {
        "doubled": numbers[:7] + numbers[6:],
        "disordered": [*numbers[:6], 7, 6, *numbers[8:]],
        "last": numbers[:-1],
    }.get(fault, numbers)


@pytest.fixture(name="port", scope="module")
def _port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def streams(port: int, fault: str) -> LoadResult:
    """Twelve streams over four connections."""
    request = {
        "target": f"/?user=u-{{counter}}&fault={fault}",
        "stream": {
            "kind": "sse",
            "events": EVENTS,
            "counter": "json.n",
            "first": 0,
            "stamp": "json.t",
            "expect": {"kind": "json", "fields": {"user": "u-{counter}"}},
        },
    }
    job = {"url": f"http://127.0.0.1:{port}", "connections": 4, "duration_s": 30, "max_requests": 12}
    result, _ = carried_out("load", job | {"requests": [request]})
    return LoadResult.model_validate(result)


@pytest.mark.parametrize(
    ("fault", "failed", "counts"),
    [
        ("", None, (0, 0, 0)),
        ("odd", None, (0, 0, 0)),
        ("lost", "lost_event", (1, 0, 0)),
        ("last", "lost_event", (12, 0, 0)),
        ("doubled", "doubled_event", (0, 12, 0)),
        ("disordered", "disordered_event", (0, 0, 12)),
        ("another", "wrong_event", (0, 0, 0)),
    ],
)
def test_each_planted_fault_is_named(port: int, fault: str, failed: str | None, counts: tuple[int, int, int]) -> None:
    result = streams(port, fault)
    events = result.events
    assert events is not None
    assert (events.lost, events.doubled, events.disordered) == counts
    named = {name for name, count in result.counts.errors if count}
    assert named == ({failed} if failed else set())
    assert result.counts.not_right == (0 if failed is None else 1 if fault == "lost" else 12)
    assert not events.in_burst


def test_a_stall_is_the_longest_gap_and_no_failure(port: int) -> None:
    result = streams(port, "stall")
    assert result.counts.ok == 12
    figures, _ = load_figures(result)
    assert figures["event_gap_max"] >= 0.3 > figures["event_gap_p50"]
    assert figures["first_event_p50"] < 0.3 and figures["events_lost"] == 0.0


def test_a_buffered_stream_shows_in_its_burst_and_in_the_delivery(port: int) -> None:
    events = streams(port, "buffered").events
    assert events is not None
    assert (events.lasting, events.in_burst) == (12, 12)
    assert events.delay.max is not None and events.delay.max > 0.05
