"""A recorded session takes identifiers of created things from responses, not from the recording."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.intake.recordings import entry, har, steps
from tests.run.test_end_to_end import touchstone

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
ORIGIN_OF = r"^(?:[A-Za-z][\w+.-]*:)?(?://[^/?#]*)?"
UUID = "0b6c5c0e-3d0c-4f0e-9f0d-5b8f3f1c2a77"


def created(content: Any, path: str = "/orders", **more: Any) -> dict[str, Any]:
    post = {"mimeType": JSON, "text": json.dumps({"name": "a"})}
    return entry("POST", path, 201, headers={"Content-Type": JSON}, post=post, content=json.dumps(content), **more)


def sent(path: str, text: str, kind: str = JSON) -> dict[str, Any]:
    return entry("POST", path, 200, headers={"Content-Type": kind}, post={"mimeType": kind, "text": text})


@pytest.mark.parametrize(
    ("gave", "later", "captures", "written"),
    [
        (created({"id": UUID}), entry("GET", f"/orders/{UUID}/lines", 200), {"id": {"json": "/id"}},
         "/orders/{capture.id}/lines"),
        (created({"data": {"orderId": 17}}), entry("DELETE", "/orders/17", 204), {"orderId": {"json": "/data/orderId"}},
         "/orders/{capture.orderId}"),
        (created({"id": UUID}), entry("GET", f"/events?after={UUID}&n=1", 200), {"id": {"json": "/id"}},
         "/events?after={capture.id}&n=1"),
        (created({"id": 17}), entry("GET", "/lines?orderId=17", 200), {"id": {"json": "/id"}},
         "/lines?orderId={capture.id}"),
        (created({}, answered={"Location": "http://shop.test/v1/orders/17"}, path="/v1/orders"),
         entry("GET", "/v1/orders/17?full=1", 200),
         {"orders": {"header": "location", "pattern": f"{ORIGIN_OF}/v1/orders/([^/?#]+)"}},
         "/v1/orders/{capture.orders}?full=1"),
        (created({"id": UUID}), sent("/pay", json.dumps({"of": UUID, "ids": [UUID]})), {"id": {"json": "/id"}},
         '{"of": "{capture.id}", "ids": ["{capture.id}"]}'),
        (created({"id": 17}), sent("/pay", '{"orderId": 17, "sum": 17}'), {"id": {"json": "/id"}},
         '{"orderId": {capture.id}, "sum": 17}'),
        (created({"id": UUID}), sent("/pay", f"order={UUID}&sum=1", FORM), {"id": {"json": "/id"}},
         "order={capture.id}&sum=1"),
        # A version in JSON text is written there with its quotes escaped.
        (created({"etag": '"a1b2c3"'}), entry("PUT", "/x", 200, headers={"If-Match": '"a1b2c3"'}),
         {"version": {"json": "/etag"}}, "{capture.version}"),
        # Others that only look alike.
        (created({"id": 1}), entry("GET", "/pages/1", 200), None, "/pages/1"),
        (created({"id": 1}), sent("/pay", '{"categoryId": 1, "id": 1}'), None, '{"categoryId": 1, "id": 1}'),
        (created({"count": UUID}), entry("GET", f"/orders/{UUID}", 200), None, f"/orders/{UUID}"),
        (entry("GET", "/orders", 200, content=json.dumps({"id": UUID})), entry("GET", f"/orders/{UUID}", 200), None,
         f"/orders/{UUID}"),
        # The client made it.
        (created({"id": UUID}, path=f"/orders/{UUID}"), entry("GET", f"/orders/{UUID}", 200), None, f"/orders/{UUID}"),
    ],
)  # fmt: skip
def test_what_a_session_created_is_captured(tmp_path: Path, gave: Any, later: Any, captures: Any, written: str) -> None:
    first, second = steps(tmp_path, gave, later)
    assert first.get("captures") == captures
    texts = (second["target"], second.get("body"), (second.get("headers") or {}).get("if-match"))
    assert written in texts


def test_the_latest_of_two_equal_identifiers_is_meant(tmp_path: Path) -> None:
    orders, users, third = steps(
        tmp_path, created({"id": 1}), created({"id": 1}, path="/users"), entry("GET", "/users/1", 200)
    )
    assert "captures" not in orders
    assert users["captures"] == {"id": {"json": "/id"}}
    assert third["target"] == "/users/{capture.id}"


class _Numbering(BaseHTTPRequestHandler):
    """It numbers created things, and knows no others."""

    protocol_version = "HTTP/1.1"
    made: list[str]

    def handle_any(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.command == "POST":
            self.made.append(str(4000 + len(self.made)))
        known = self.command == "POST" or self.path.rpartition("/")[2] in self.made
        body = json.dumps({"id": int(self.made[-1])} if known else {}).encode()
        self.send_response((201 if self.command == "POST" else 200) if known else 404)
        self.send_header("Content-Type", JSON)
        if self.command == "POST":
            self.send_header("Location", f"http://elsewhere.test{self.path}/{self.made[-1]}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = handle_any

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def origin() -> Iterator[str]:
    handler = type("Numbering", (_Numbering,), {"made": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_session_holds_where_things_get_other_numbers(tmp_path: Path, origin: str) -> None:
    recorded = [
        created({"id": 17}, path=f"{origin}/orders", mime=JSON),
        entry("GET", f"{origin}/orders/17", 200, mime=JSON),
        entry("PUT", f"{origin}/orders/17", 200, mime=JSON),
        created({}, path=f"{origin}/users", mime=JSON, answered={"Location": "/users/9"}),
        entry("GET", f"{origin}/users/9", 200, mime=JSON),
    ]
    done = touchstone(tmp_path, "new", "shop", "--from-har", str(har(tmp_path, *recorded)))
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "shop/scenario.toml").read_text(encoding="utf-8")
    assert "# look: each pass does this again: POST /orders, PUT /orders/{id}, POST /users" in text
    held = touchstone(tmp_path, "run", "shop", "--url", f"one={origin}", "--phase", "verify")
    assert held.returncode == 0, held.stdout + held.stderr
