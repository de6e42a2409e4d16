"""What a running service answers becomes a contract that it holds, and one that another service would break."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.run.test_end_to_end import touchstone
from touchstone.engine.ask import RequestValues
from touchstone.failure import UsageError
from touchstone.intake.answers import draft_from_urls
from touchstone.intake.draft import DraftRequest
from touchstone.manifest.exchange import Request
from touchstone.manifest.expected_json import JsonType
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario

_JSON, _TEXT = "application/json; charset=utf-8", "text/plain"


def page(title: str, token: int) -> str:
    """A page of a shop, of which a token is another one each time."""
    items = "\n".join(f"<li>{number} \u00e9</li>" for number in range(300))
    return f"<!DOCTYPE html>\n<html>{' ' * 200}<title>{title}</title>\n<i>{token}</i>{items}</html>\n"


PAD = "-" * 3_000


_FIELDS = {
    "/login": {"Location": "/enter?next=%2F&token=s3cret"},
    "/zipped": {"Content-Encoding": "gzip"},
    "/brotli": {"Content-Encoding": "br"},
    "/not-zipped": {"Content-Encoding": "gzip"},
}


class _Handler(BaseHTTPRequestHandler):
    """Some answers are the same each time, some are not."""

    protocol_version = "HTTP/1.1"
    numbers = itertools.count()

    def do_GET(self) -> None:
        number = next(self.numbers)
        thing = {"name": '{fresh} "it\'s"', "tags": ["a", {"deep": "{b}"}], "at": number, "none": None}
        answers: dict[str, tuple[int, str, bytes]] = {
            "/health": (204, "", b""),
            "/private": (401, _JSON, b'{"error": "unauthorized"}'),
            "/thing?x=%7B1": (200, _JSON, json.dumps(thing).encode()),
            "/text": (200, _TEXT, b"one\ntwo {counter}"),
            "/binary": (200, "image/png", bytes(range(256))),
            "/page": (200, "text/html", page("{cart} (2)", number).encode()),
            "/now": (
                200,
                "text/html",
                f"<html><body>\n<p>at 12:00:1{number % 5}</p>{PAD}<i>{number % 5}3:00</i></html>".encode(),
            ),
            "/list": (
                200,
                _JSON,
                f'[{{"shop": "the corner", "at": "12:00:1{number % 5}"}}, "{PAD}", "{number % 5}3:00"]'.encode(),
            ),
            "/clock": (200, _TEXT, str(number).encode()),
            "/gone": (404, _TEXT, b"no"),
            "/caf%C3%A9%20x": (200, _JSON, b'{"a": NaN, "b": {"type": "string"}}'),
            "/broken": (503, _TEXT, b"down"),
            "/flips": (200 + number % 2, _TEXT, b""),
            "/moved": (302, "", b""),
            "/login": (302, "", b""),
            "/zipped": (200, _TEXT, gzip.compress(b"hello", mtime=0)),
            "/brotli": (200, _TEXT, b"\x1b\x04\x00\xf8"),
            "/not-zipped": (200, _TEXT, b"hello"),
            "/token": (200, _JSON, b'{"access_token": "t0k3n-2", "token_type": "bearer"}'),
            "/text?access_token=t0k3n-1": (200, _TEXT, b"hello"),
            "/alive": (200, _JSON, json.dumps({"status": "ok", "at": number}).encode()),
        }
        status, kind, body = answers[self.path]
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in _FIELDS.get(self.path, {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def origin() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_service_holds_what_was_drafted_from_it(tmp_path: Path, origin: str) -> None:
    paths = ("/health", "/thing?x=%7B1", "/text", "/binary", "/clock", "/page", "/gone", "/broken")
    asked = [word for path in paths for word in ("--from-url", origin + path)]
    done = touchstone(tmp_path, "new", "bench", *asked)
    assert done.returncode == 0, done.stderr
    held = touchstone(tmp_path, "run", "bench", "--url", f"one={origin}", "--phase", "verify")
    assert held.returncode == 0, held.stdout + held.stderr
    assert "one keeps its contract: 9 checks" in held.stdout

    scenario = read_manifest(tmp_path / "bench" / "scenario.toml", Scenario)
    assert scenario.ready.target == "/health"
    _, thing, text, binary, clock, shop, gone, broken = (check.steps[0].expect for check in scenario.contract)  # type: ignore[union-attr]
    assert thing.json_fields == {
        "name": '{brace}fresh} "it\'s"',
        "tags": ["a", {"deep": "{b}"}],
        "at": JsonType(type="integer"),
        "none": JsonType(type="null"),
    }
    assert thing.json_exact
    assert text.body == "one\ntwo {brace}counter}"
    assert (binary.body, binary.content_type, clock.body) == (None, "image/png", None)
    assert shop.pattern is not None
    pattern = RequestValues(counter=0, fresh="", seed=0).fill(shop.pattern)
    assert re.fullmatch(pattern, page("{cart} (2)", 7))
    assert not any(re.fullmatch(pattern, other) for other in (page("Error", 7), page("{cart} (2)", 7)[:-9]))
    assert (gone.status, broken.status) == (404, 503)
    assert [request.target for request in scenario.loads["mix"].requests] == [
        "/thing?x=%7B1",
        "/text",
        "/binary",
        "/clock",
        "/page",
    ]
    marked = [line for line in (tmp_path / "bench" / "scenario.toml").read_text().splitlines() if "# look" in line]
    assert len(set(marked)) == 4, "fields that vary, bodies that are not checked, or in part, and a server's error"


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/now", r"<html><body>\n<p>[\s\S]*</i></html>"),
        ("/list", r'\[\{"shop": "the corner", "at": "[\s\S]*"\]'),
    ],
)
def test_no_part_of_what_varies_is_expected(origin: str, path: str, pattern: str) -> None:
    (drafted,) = draft_from_urls([f"{origin}{path}"]).contract
    assert isinstance(drafted, DraftRequest)
    assert drafted.pattern == pattern.replace(r"<body>\n", "<body>\n")


def test_what_no_request_and_no_manifest_may_hold(tmp_path: Path, origin: str) -> None:
    draft = draft_from_urls([f"{origin}/café x"])
    draft.write(tmp_path / "bench")
    (check,) = read_manifest(tmp_path / "bench" / "scenario.toml", Scenario).contract
    (step,) = check.steps
    assert isinstance(step, Request)
    assert step.target == "/caf%C3%A9%20x"
    assert step.expect.json_fields == {"a": JsonType(type="number"), "b": JsonType(type="object")}


def test_what_is_no_answer_is_refused(origin: str) -> None:
    with pytest.raises(UsageError, match="in turn"):
        draft_from_urls([f"{origin}/flips"])
    with pytest.raises(UsageError, match="several services"):
        draft_from_urls([f"{origin}/text", "http://127.0.0.1:1/text"])
    with pytest.raises(UsageError, match="no answer"):
        draft_from_urls(["http://127.0.0.1:1/text"])
    for url in ("127.0.0.1:80/x", "https://127.0.0.1/x", "http://[::1/x", "http://127.0.0.1:x/y"):
        with pytest.raises(UsageError):
            draft_from_urls([url])


@pytest.mark.parametrize(
    ("first", "expected"), [("/alive", {}), ("/clock", {}), ("/moved", {"body": ""}), ("/text", {"body": "one"})]
)
def test_the_first_url_tells_that_the_service_has_started_whatever_of_it_varies(
    tmp_path: Path, origin: str, first: str, expected: dict[str, str]
) -> None:
    draft_from_urls([origin + first, f"{origin}/moved", f"{origin}/text"]).write(tmp_path / "bench")
    ready = read_manifest(tmp_path / "bench" / "scenario.toml", Scenario).ready
    assert ready.target == first
    assert ready.expect.statuses == ((302,) if first == "/moved" else (200,))
    assert (ready.expect.body or "").startswith(expected.get("body", ""))
    assert (ready.expect.body is None) == (not expected)


@pytest.mark.parametrize(("first", "status"), [("/gone", 404), ("/broken", 503)])
def test_an_error_does_not_tell_that_the_service_has_started(origin: str, first: str, status: int) -> None:
    with pytest.raises(UsageError, match=f"GET {first} is answered {status}") as caught:
        draft_from_urls([origin + first, f"{origin}/text"])
    assert "such as its health" in str(caught.value)


def test_what_lets_nobody_in_is_marked_with_the_way_to_log_in(tmp_path: Path, origin: str) -> None:
    done = touchstone(tmp_path, "new", "bench", "--from-url", f"{origin}/health", "--from-url", f"{origin}/private")
    assert "`prepare` of the load" in done.stdout
    marked = [line for line in (tmp_path / "bench" / "scenario.toml").read_text().splitlines() if "# look" in line]
    assert 'docs/templates.md, "A login"' in marked[0]
    assert any("ask for what the service is for" in line for line in marked)


def test_no_secret_of_a_url_or_of_its_answer_is_written(tmp_path: Path, origin: str) -> None:
    done = touchstone(
        tmp_path, "new", "bench", "--from-url", f"{origin}/text?access_token=t0k3n-1", "--from-url", f"{origin}/token"
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "bench" / "scenario.toml").read_text()
    assert "t0k3n" not in text
    assert 'target = "/text?access_token={env.ACCESS_TOKEN:url}"' in text
    assert 'access_token = { type = "string" }' in text


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("127.0.0.1:8001/healthz", "write http://127.0.0.1:8001/healthz"),
        ("localhost:8001/healthz", "write http://localhost:8001/healthz"),
        ("localhost/healthz", "write http://localhost/healthz"),
        ("/healthz", "write it like http://127.0.0.1:8080/health"),
        ("ftp://127.0.0.1/healthz", "write it like http://127.0.0.1:8080/health"),
    ],
)
def test_an_address_without_its_scheme_is_quoted_as_it_was_typed(typed: str, advice: str) -> None:
    with pytest.raises(UsageError) as caught:
        draft_from_urls(["http://127.0.0.1:8001/", typed])
    assert str(caught.value) == f'url "{typed}": it must begin with http://, https:// or unix:/\n  do: {advice}'


def test_a_host_without_an_address_is_an_error_of_the_command_line() -> None:
    with pytest.raises(UsageError, match=r"nosuch\.invalid") as caught:
        draft_from_urls(["http://nosuch.invalid/"])
    assert "correct the name of the host" in str(caught.value)


def test_codings_and_redirects_are_named(origin: str) -> None:
    paths = ("/login", "/zipped", "/brotli", "/not-zipped")
    contract = draft_from_urls([origin + path for path in paths]).contract
    login, zipped, brotli, plain = (one.guessed for one in contract if isinstance(one, DraftRequest))
    assert login == "it redirects to /enter, and no redirect is followed: name that URL to load its target"
    named = "the body is not checked: it has Content-Encoding {}, which was not asked for"
    assert zipped == named.format("gzip") + '; expect.encoding = "decoded" undoes it'
    assert brotli == named.format("br")
    assert plain == "it names Content-Encoding gzip, which was not asked for, and its body is not so encoded"


class _Stream(BaseHTTPRequestHandler):
    """Sends events without end, or a response that takes longer than a stream needs to be recognised."""

    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if self.path == "/events" else "text/plain")
        self.end_headers()
        self.wfile.write(b"data: 1\n\n")
        self.wfile.flush()
        time.sleep(5.0 if self.path == "/events" else 0.7)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_a_stream_is_refused_when_asked_once_and_a_slow_response_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("touchstone.intake.answers._STREAM_S", 0.3)
    monkeypatch.setattr("touchstone.intake.answers._ASKED", 1)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Stream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    try:
        with pytest.raises(UsageError, match=r"no whole answer within 0\.3 s.*event-stream.*did not end") as refused:
            draft_from_urls([f"{origin}/events"])
        assert "a stream cannot be drafted" in (refused.value.fix or "")
        assert _Stream.asked == 1
        draft_from_urls([f"{origin}/slow"])
        assert _Stream.asked == 3
    finally:
        server.shutdown()
        server.server_close()
