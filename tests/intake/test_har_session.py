"""A recorded session is taken again on a service that gives other tokens, cookies and versions."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.intake.recordings import drafted, entry, har, steps
from tests.run.test_end_to_end import touchstone
from touchstone.engine.client import run_job
from touchstone.engine.job import Timing, load_job
from touchstone.intake.har.drafting import draft_from_har
from touchstone.record.engine import LoadResult

FORM, JSON = "application/x-www-form-urlencoded", "application/json"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
UPLOAD = b"\x89PNG\xff\x00"


class _Shop(BaseHTTPRequestHandler):
    """Its tokens, session and version are others than those that were recorded."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, status: int, body: bytes = b"", kind: str = "text/html", **fields: str) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        if status not in (204, 304):
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        known = "sid=new-session" in (self.headers.get("Cookie") or "")
        form = parse_qs(sent.decode("latin-1"))
        match self.command, self.path:
            case "GET", "/login":
                self.answer(200, b'<form><input type="hidden" name="csrf" value="fresh-csrf-1"></form>')
            case "POST", "/login":
                right = form == {"csrf": ["fresh-csrf-1"], "user": ["ann"], "password": ["a b&\u00e9"]}
                self.answer(302 if right else 403, Set_Cookie="sid=new-session; Path=/; Secure; HttpOnly", Location="/")
            case "POST", "/token":
                self.answer(200, b'{"data": {"access_token": "fresh-token-77"}}', JSON)
            case "GET", "/me":
                right = known and self.headers.get("Authorization") == "Bearer fresh-token-77"
                self.answer(200 if right else 401, b"{}", JSON)
            case "GET", "/app.js":
                right = self.headers.get("If-None-Match") == '"v2"'
                self.answer(304 if right else 200, b"" if right else b"1;", "text/javascript", ETag='"v2"')
            case "POST", "/up":
                self.answer(201 if sent == UPLOAD else 400, kind="text/plain")
            case "OPTIONS", "/notes":
                self.answer(204 if self.headers.get("Access-Control-Request-Method") else 405)
            case "GET", "/list":
                self.answer(200 if self.headers.get("HX-Request") and "theme=dark" in self.headers["Cookie"] else 400)
            case _:
                self.answer(404)

    do_GET = do_POST = do_OPTIONS = handle_any

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """A load ends by resetting its connections."""


@pytest.fixture
def origin() -> Iterator[str]:
    server = _Quiet(("127.0.0.1", 0), _Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


SECRETS = ("old-session", "old-csrf", "old-token", "hunter2", "a+b", JWT[:20])


def session(at: str) -> list[dict[str, Any]]:
    """What a browser recorded while another version of the shop ran."""
    cookie, bearer = {"Cookie": "sid=old-session-1"}, {"Authorization": "Bearer old-token-12345"}
    login = {"mimeType": FORM, "text": "csrf=old-csrf-98765&user=ann&password=a+b%26%C3%A9"}
    cors = {"Origin": "http://a.test", "Access-Control-Request-Method": "POST"}
    return [
        entry("GET", f"{at}/login", 200, content='<input type="hidden" name="csrf" value="old-csrf-98765">'),
        entry(
            "POST", f"{at}/login", 302, headers={"Content-Type": FORM}, post=login,
            answered={"Set-Cookie": "lang=en; Path=/\nsid=old-session-1; Path=/; Secure", "Location": "/"},
        ),
        entry(
            "POST", f"{at}/token", 200, headers={"Content-Type": JSON} | cookie, mime=JSON,
            post={"mimeType": JSON, "text": json.dumps({"client_secret": "hunter2-b", "jwt": JWT})},
            content='{"data": {"access_token": "old-token-12345"}}',
        ),
        entry("GET", f"{at}/me", 200, headers=cookie | bearer, mime=JSON),
        entry("GET", f"{at}/app.js", 200, answered={"ETag": '"v1"', "Content-Type": "text/javascript"}),
        entry("GET", f"{at}/app.js", 304, headers={"If-None-Match": '"v1"'}),
        entry("POST", f"{at}/up", 201, mime="text/plain", post={"mimeType": "x/y", "text": UPLOAD.decode("latin-1")}),
        entry("OPTIONS", f"{at}/notes", 204, headers=cors),
        entry("GET", f"{at}/list", 200, headers={"HX-Request": "true", "Cookie": "theme=dark"}),
    ]  # fmt: skip


VARIABLES = {"PASSWORD": "a b&\u00e9", "CLIENT_SECRET": "x", "JWT_SECRET": "y"}


def test_a_session_holds_on_a_service_with_other_secrets(
    tmp_path: Path, origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    done = touchstone(tmp_path, "new", "shop", "--from-har", str(har(tmp_path, *session(origin))))
    assert done.returncode == 0, done.stderr
    written = [path.read_text(encoding="utf-8") for path in (tmp_path / "shop").rglob("*") if path.is_file()]
    assert [secret for secret in SECRETS if any(secret in text for text in written)] == []
    assert set(re.findall(r"\{env\.(\w+)", written[0])) == set(VARIABLES)
    held = touchstone(tmp_path, "run", "shop", "--url", f"one={origin}", "--phase", "verify")
    assert held.returncode == 0, held.stdout + held.stderr
    assert "one keeps its contract: 3 checks" in held.stdout


def test_its_journey_is_taken_without_an_error(tmp_path: Path, origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    scenario, _ = drafted(tmp_path, *session(origin))
    job = load_job(scenario.loads["session"], origin, Timing(0, 0.3, 0), cpus=[], seed=1, fresh=None)
    result = run_job("load", job, LoadResult)
    assert result.counts.ok > len(session(origin))
    assert result.first_errors == []


def test_pages_that_need_nothing_before_them_are_checks_of_their_own(tmp_path: Path, origin: str) -> None:
    scenario, _ = drafted(tmp_path, *session(origin))
    assert [check.id for check in scenario.contract] == ["get-login", "session"]
    reads = [entry("GET", "/a", 200), entry("GET", "/b", 200), entry("GET", "/a", 200)]
    scenario, _ = drafted(tmp_path / "reads", *reads)
    assert [check.id for check in scenario.contract] == ["get-a", "get-b"]


@pytest.mark.parametrize(
    ("answered", "content", "headers", "capture"),
    [
        ({"Set-Cookie": "a=b; Expires=Mon, 05 Jan 2026 10:00:00 GMT\nsid=abc; Secure"}, "", {"Cookie": "sid=abc"},
         {"sid": {"header": "set-cookie", "pattern": "(?:^|, ?)sid=([^;]*)"}}),
        ({"X-Token": "t0k3n-123"}, "", {"X-Token": "t0k3n-123"}, {"x_token": {"header": "x-token"}}),
        ({"Location": "/cb?code=c0d3-12345&x=1"}, "", {"X-Code": "c0d3-12345"}, None),
        ({}, '{"a": [{"b/c": "t0k3n-123"}]}', {"X-Token": "t0k3n-123"}, {"x_token": {"json": "/a/0/b~1c"}}),
        ({}, '<meta name="csrf-token" content="t0k3n-123">', {"X-CSRF-Token": "t0k3n-123"},
         {"x_csrf_token": {"pattern": "meta name=\"csrf-token\" content=\"([^\"'<>&\\s]+)"}}),
        ({}, '{"a": "1"}', {"Cookie": "sid=1"}, None),
    ],
)  # fmt: skip
def test_where_a_secret_is_taken_from(tmp_path: Path, answered: Any, content: str, headers: Any, capture: Any) -> None:
    gave, took = steps(
        tmp_path,
        entry("GET", "/one", 200, answered=answered, content=content),
        entry("GET", "/two", 200, headers=headers),
    )
    assert gave.get("captures") == capture
    if capture:
        assert f"{{capture.{next(iter(capture))}}}" in " ".join(took["headers"].values())


def test_a_login_in_a_url_is_a_field(tmp_path: Path) -> None:
    draft = draft_from_har(har(tmp_path, entry("GET", "http://ann:hunter2@shop.test/", 200)))
    assert draft.title == "A session with http://shop.test"
    text = draft.toml("shop")
    assert 'authorization = "Basic {env.AUTHORIZATION}"' in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    "url",
    [
        f"/reset/{JWT}",
        "/cb?code=0123456789abcdef&state=x",
        "/f?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20260105&X-Amz-Signature=0123456789abcdef",
        "/f?sv=2024&sig=0123456789abcdef%3D",
        "/f?X-Goog-Signature=0123456789abcdef",
    ],
)
@pytest.mark.parametrize("status", [200, 0])
def test_no_secret_of_a_url_is_written_or_shown(tmp_path: Path, url: str, status: int) -> None:
    file = har(tmp_path, entry("GET", "/", 200), entry("GET", url, status))
    done = touchstone(tmp_path, "new", "shop", "--from-har", str(file))
    written = (tmp_path / "shop" / "scenario.toml").read_text() + done.stdout + done.stderr
    for secret in (JWT, JWT.lower()[:20], "0123456789abcdef", "AKIA"):
        assert secret not in written


def test_a_cookie_list_stands_in_for_the_field(tmp_path: Path) -> None:
    one = entry("GET", "/", 200)
    one["request"]["cookies"] = [{"name": "theme", "value": "dark"}, {"name": "sid", "value": "abc"}]
    (step,) = steps(tmp_path, one)
    assert step["headers"] == {"cookie": "theme=dark; sid={env.COOKIE_SID}"}
