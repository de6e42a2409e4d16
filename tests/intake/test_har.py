"""A recorded session becomes a journey that the lab takes: what cannot be sent again is left out by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.intake.recordings import drafted, entry, har, steps, words
from tests.run.test_end_to_end import touchstone
from touchstone.failure import UsageError
from touchstone.intake.har.drafting import draft_from_har
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario

PAGE = entry("GET", "/", 200)


def test_a_session_becomes_a_journey(tmp_path: Path) -> None:
    fields = {"Host": "shop.test", "Accept": "*/*", "Authorization": "Bearer t0k3n"}
    note = '{"text":"it\'s\\n{a}"}'
    session = [
        entry(
            "GET", "https://shop.test/notes?q={counter}", 200, headers=fields, mime="application/json; charset=utf-8"
        ),
        entry("GET", "https://fonts.example.com/f.woff", 200, at=0.05),
        entry("POST", "https://SHOP.test:443/notes", 201, at=2.005, post={"mimeType": "x", "text": note}),
        entry("GET", "https://shop.test/notes/5", 404, at=2.01),
        entry("GET", "https://shop.test/aborted", 0, at=2.02),
    ]
    done = touchstone(tmp_path, "new", "notes", "--from-har", str(har(tmp_path, *session)))
    assert done.returncode == 0, done.stderr
    assert "touchstone new notes --stack python" in done.stdout
    for said in (
        "AUTHORIZATION (authorization)",
        "https://fonts.example.com",
        "GET /aborted: it was not answered",
        "host.",
    ):
        assert said in done.stdout
    scenario = read_manifest(tmp_path / "notes" / "scenario.toml", Scenario)
    (journey,) = scenario.loads["session"].journeys
    first, posted, last = journey.steps
    assert first.target == "/notes?q={brace}counter}"
    assert first.headers == {"accept": "*/*", "authorization": "Bearer {env.AUTHORIZATION}"}
    assert (first.think_s, posted.think_s) == (2.0, 0.0)
    assert posted.body == '{"text":"it\'s\\n{brace}a}"}'
    assert last.expect.statuses == (404,)
    assert first.expect.content_type == "application/json"
    page, whole = scenario.contract
    assert [step.target for step in page.steps] == ["/notes?q={brace}counter}"]  # type: ignore[union-attr]
    assert [step.target for step in whole.steps] == [step.target for step in journey.steps]  # type: ignore[union-attr]
    checked = touchstone(tmp_path, "check", "notes")
    assert checked.returncode == 0, checked.stdout
    assert "AUTHORIZATION is not set" in checked.stdout
    again = touchstone(tmp_path, "new", "notes", "--from-har", str(har(tmp_path, *session)))
    assert again.returncode == 2
    assert "there is already a scenario" in again.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "log.entries"),
        ('{"log": {"entries": {}}}', "log.entries"),
        ('{"log": {"entries": []}}', "no request that can be sent again"),
        ('{"log": {"entries": [{"request": {}}]}}', "entry 1: it has no response"),
        ('{"log": null}', "log.entries"),
        ('{"log": {"entries": [', "not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "session.har").write_text(text)
    with pytest.raises(UsageError, match=said):
        draft_from_har(tmp_path / "session.har")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_a_recording_is_read_in_the_encoding_that_it_has(tmp_path: Path, encoding: str) -> None:
    file = har(tmp_path, entry("GET", "/caf\u00e9?q=\u20ac", 200))
    file.write_text(json.dumps(json.loads(file.read_text()), ensure_ascii=False), encoding=encoding)
    (load,) = draft_from_har(file).loads
    assert load.requests[0].target == "/caf%C3%A9?q=%E2%82%AC"


LEFT_OUT: list[tuple[Any, str]] = [
    (None, "entry 1: it has no request"),
    ([], "entry 1: it has no request"),
    ({"request": {"method": "GET", "url": "http://shop.test/b"}}, "GET /b: it has no response"),
    (entry("GET", "/b", 200) | {"response": None}, "GET /b: it has no response"),
    (entry("GET", "/b", 200, headers={"Accept": None}), "GET /b: its field Accept has no value"),
    (entry("GET", "/b", 200, headers={"": "x"}), "is not a name of a field"),
    (entry("GET", "/b", 200, headers={"x": "a\r\nb: c"}), "holds a line end"),
    (entry("GET", "/b", 200, headers={"x": "\ud83d"}), "half of a character"),
    (entry("GET", "/\ud83d", 200), "half of a character"),
    (entry("GET", "/b", 0), "it was not answered"),
    (entry("GET", "/b", -1), "it was not answered"),
    (entry("GET", "/b", 200, _error="net::ERR_ABORTED"), "broken off: net::ERR_ABORTED"),
    (entry("GET", "/b", 999), "999 is not a status"),
    (entry("GET", "/b", 200, startedDateTime="2026-01-05T10:00:00"), "its time has no zone"),
    (entry("GET", "/b", 200, startedDateTime="yesterday"), "its time cannot be read"),
    (entry("GET", "/b", 200, startedDateTime=None), "its time cannot be read"),
    (entry("GET", "ws://shop.test/socket", 101), "GET /socket: a WebSocket"),
    (entry("GET", "/socket", 101, headers={"Upgrade": "websocket"}), "a WebSocket"),
    (entry("GET", "/socket", 200, _webSocketMessages=[]), "a WebSocket"),
    (entry("GET", "/socket", 403, _resourceType="websocket"), "a WebSocket"),
    (
        entry("GET", "data:text/plain,hi", 200) | {"request": {"method": "GET", "url": "data:text/plain,hi"}},
        "a data: URL",
    ),
    (entry("GET", "chrome-extension://abcdef/x.js", 200), "a chrome-extension: URL"),
    (entry("GET", "file:///x", 200), "a file: URL"),
    (entry("GET", "http://[::1/b", 200), "its URL is none"),
    (entry("GET", "http://shop.test:99999/b", 200), "its URL is none"),
    (entry("GET", "http:///b", 200), "names no host"),
    (entry("CONNECT", "http://shop.test:443", 200), "does not send the method 'CONNECT'"),
    (entry("PROPFIND", "/b", 207), "does not send the method 'PROPFIND'"),
    (entry("GET", "/events", 200, mime="text/event-stream"), "a stream of events"),
    (entry("GET", "/events", 200, mime="", _resourceType="eventsource"), "a stream of events"),
    (entry("GET", "/camera", 200, mime="multipart/x-mixed-replace; boundary=x"), "a stream of events"),
    (entry("GET", "/poll", 200, time=20_000), "took 20 s"),
    (entry("GET", "/b", 304), "the condition for that (if-none-match or if-modified-since) is not recorded"),
    (entry("GET", "/b", 206), "the condition for that (range) is not recorded"),
    (entry("GET", "/b", 416), "(range) is not recorded"),
    (entry("PUT", "/b", 412), "if-match"),
    (entry("GET", "/b", 200, _fromCache="disk"), "from its cache"),
    (entry("GET", "/b", 200, _fetchType="Memory Cache"), "from its cache"),
    (entry("GET", "/b", 200, _fetchedViaServiceWorker=True), "a service worker answered"),
    (entry("GET", "/b", 407), "a proxy asked"),
    (entry("POST", "/b", 200, post=7), "its body is not in the recording"),
    (entry("POST", "/b", 200, headers={"Content-Length": "5"}), "its body is not in the recording"),
    (entry("POST", "/b", 200, headers={"Content-Length": "5"}, post={"mimeType": "x/y"}), "body of 5 bytes is not in"),
]


@pytest.mark.parametrize(("bad", "said"), LEFT_OUT, ids=[said[:40] for _, said in LEFT_OUT])
def test_an_entry_that_cannot_be_sent_again_is_left_out_by_name_and_the_rest_is_read(
    tmp_path: Path, bad: Any, said: str
) -> None:
    draft = draft_from_har(har(tmp_path, bad, PAGE, entry("GET", "/last", 200)))
    assert [one.target for one in draft.loads[0].requests] == ["/", "/last"]
    assert said in " ".join(draft.notes)
    assert draft.write(tmp_path / "session").exists()


@pytest.mark.parametrize("zone", ["", "Z", "+02:00", "+0200"])
def test_times_of_one_kind_are_kept_with_their_pauses(tmp_path: Path, zone: str) -> None:
    times = [f"2026-01-05T10:00:0{second}.1234567{zone}" for second in (0, 3)]
    first, _ = steps(tmp_path, *(entry("GET", f"/{time[17:19]}", 200, startedDateTime=time) for time in times))
    assert first["think_s"] == 3


def test_zones_are_compared_and_entries_put_in_order(tmp_path: Path) -> None:
    late = entry("GET", "/late", 200, startedDateTime="2026-01-05T10:00:09Z")
    early = entry("GET", "/early", 200, startedDateTime="2026-01-05T12:00:05+02:00")
    first, second = steps(tmp_path, late, early)
    assert (first["target"], first["think_s"], second["target"]) == ("/early", 4, "/late")


def test_a_recording_without_times_is_read_without_pauses(tmp_path: Path) -> None:
    found = steps(tmp_path, *(entry("GET", path, 200, startedDateTime=None) for path in ("/a", "/b")))
    assert [("think_s" in one, one["target"]) for one in found] == [(False, "/a"), (False, "/b")]


def test_what_made_the_answer_is_sent_again(tmp_path: Path) -> None:
    sent = {
        ":authority": "shop.test",
        "Host": "shop.test",
        "Connection": "keep-alive",
        "Content-Length": "9",
        "HX-Request": "true",
        "User-Agent": "Mozilla/5.0",
        "Accept-Encoding": "gzip, br",
        "Sec-Fetch-Site": "same-origin",
        "Origin": "http://shop.test",
        "Referer": "http://shop.test/cb?code=c0d3&lang=en",
        "Client-ID": "demo-web",
        "X-CSRF-Token": "csrf-77",
    }
    body = {"mimeType": "application/json", "text": '{"a": 1} '}
    (step,) = steps(tmp_path, entry("POST", "/add", 201, headers=sent, post=body))
    assert step["headers"] == {
        "hx-request": "true",
        "user-agent": "Mozilla/5.0",
        "accept-encoding": "gzip, br",
        "sec-fetch-site": "same-origin",
        "origin": "http://shop.test",
        "referer": "http://shop.test/cb?code={env.CODE_SECRET:url}&lang=en",
        "client-id": "demo-web",
        "x-csrf-token": "{env.X_CSRF_TOKEN}",
        "content-type": "application/json",
    }
    assert ":authority, connection, content-length, host." in words(
        (tmp_path / "session" / "scenario.toml").read_text()
    )


def test_fields_that_came_twice_are_joined(tmp_path: Path) -> None:
    one = entry("GET", "/", 200)
    pairs = [("Accept", "a/b"), ("accept", "c/d"), ("cookie", "theme=dark"), ("cookie", "lang=en"), ("X-N", 5)]
    one["request"]["headers"] = [{"name": name, "value": value} for name, value in pairs]
    (step,) = steps(tmp_path, one)
    assert step["headers"] == {"accept": "a/b, c/d", "cookie": "theme=dark; lang=en", "x-n": "5"}


def test_conditions_are_kept_with_what_they_made(tmp_path: Path) -> None:
    cached, part, changed = (
        entry("GET", "/app.js", 304, headers={"If-None-Match": '"a1"'}),
        entry("GET", "/clip", 206, headers={"Range": "bytes=0-99"}, mime="video/mp4"),
        entry("GET", "/new", 200, headers={"If-Modified-Since": "Mon, 05 Jan 2026 10:00:00 GMT"}),
    )
    _, text = drafted(tmp_path, PAGE, cached, part, changed)
    assert words(text).count("look: the service may not have the version that the condition names") == 2
    _, first, second, third = steps(tmp_path, PAGE, cached, part, changed)
    assert first["headers"] == {"if-none-match": '"a1"'}
    assert (second["headers"], second["expect"]) == (
        {"range": "bytes=0-99"},
        {"status": 206, "content_type": "video/mp4"},
    )
    assert "headers" not in third
    assert "if-modified-since is left out" in words(text)


def test_a_version_is_taken_from_the_response_that_gave_it(tmp_path: Path) -> None:
    first = entry("GET", "/app.js", 200, answered={"ETag": 'W/"a1"', "Content-Type": "text/javascript"})
    again = entry("GET", "/app.js", 304, headers={"If-None-Match": 'W/"a1"'})
    gave, took = steps(tmp_path, first, again)
    assert gave["captures"] == {"version": {"header": "etag"}}
    assert took["headers"] == {"if-none-match": "{capture.version}"}
    assert "look:" not in words((tmp_path / "session" / "scenario.toml").read_text())


def test_a_media_type_is_expected_where_the_service_states_one(tmp_path: Path) -> None:
    found = steps(
        tmp_path,
        entry("GET", "/a", 200, answered={"Content-Type": "TEXT/Plain; charset=x"}, mime="application/json"),
        entry("GET", "/b", 200, answered={"Server": "x"}, mime="text/html"),
        entry("GET", "/c", 302, mime="text/html"),
        entry("GET", "/d", 200, mime="x-unknown"),
        entry("GET", "/e", 200, mime="text/html"),
    )
    kinds = ["text/plain", None, None, None, "text/html"]
    assert [one["expect"].get("content_type") for one in found] == kinds


def test_the_service_is_the_one_that_gave_pages_and_data(tmp_path: Path) -> None:
    trackers = [entry("GET", f"https://stats.test/{number}", 302) for number in range(9)]
    files = [entry("GET", f"https://cdn.test/{number}.png", 200, mime="image/png") for number in range(5)]
    pages = [
        entry("GET", "https://shop.test/", 200),
        entry("GET", "https://shop.test/api", 200, mime="application/json"),
    ]
    draft = draft_from_har(har(tmp_path, *trackers, *files, *pages))
    assert draft.title == "A session with https://shop.test"
    assert "requests to https://cdn.test, another service (5 times)" in " ".join(draft.notes)
    assert "requests to https://stats.test, another service (9 times)" in " ".join(draft.notes)


def test_a_preflight_is_sent_with_its_fields(tmp_path: Path) -> None:
    fields = {"Origin": "http://a.test", "Access-Control-Request-Method": "POST"}
    (step,) = steps(tmp_path, entry("OPTIONS", "/notes", 204, headers=fields, mime="text/plain"))
    assert step["headers"] == {"origin": "http://a.test", "access-control-request-method": "POST"}
    assert step["expect"] == {"status": 204}


def test_many_entries_that_are_left_out_do_not_hide_the_draft(tmp_path: Path) -> None:
    bad = [entry("GET", f"/{number}", 0) for number in range(500)]
    done = touchstone(tmp_path, "new", "shop", "--from-har", str(har(tmp_path, PAGE, *bad)))
    assert len(done.stdout.splitlines()) < 30
    assert "400 more" in words((tmp_path / "shop" / "scenario.toml").read_text())
