"""A recorded session becomes a journey that the lab takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.run.test_end_to_end import touchstone
from touchstone.failure import UsageError
from touchstone.intake.har import draft_from_har
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario


def entry(second: float, method: str, url: str, status: int, **more: Any) -> dict[str, Any]:
    headers = {"Host": "example.org", "Accept": "*/*", "Cookie": "a=b", "Authorization": "Bearer secret"}
    return {
        "startedDateTime": f"2026-01-01T10:00:{second:06.3f}Z",
        "time": 100.0,
        "request": {
            "method": method,
            "url": url,
            "headers": [{"name": name, "value": value} for name, value in headers.items()],
        }
        | more,
        "response": {"status": status, "content": {"mimeType": "application/json; charset=utf-8"}},
    }


SESSION = [
    entry(0.0, "GET", "https://example.org/notes?q={counter}", 200),
    entry(0.05, "GET", "https://fonts.example.com/f.woff", 200),
    entry(2.1, "POST", "https://example.org/notes", 201, postData={"mimeType": "x", "text": '{"text":"it\'s\\n{a}"}'}),
    entry(2.2, "GET", "https://example.org/notes/5", 404),
    entry(2.3, "GET", "https://example.org/aborted", 0),
]


def har(tmp_path: Path, entries: Any) -> Path:
    file = tmp_path / "session.har"
    file.write_text(json.dumps({"log": {"entries": entries}}), encoding="utf-8")
    return file


def test_a_session_becomes_a_journey(tmp_path: Path) -> None:
    done = touchstone(tmp_path, "new", "notes", "--from-har", str(har(tmp_path, SESSION)))
    assert done.returncode == 0, done.stderr
    assert "touchstone new notes --stack python" in done.stdout
    scenario = read_manifest(tmp_path / "notes" / "scenario.toml", Scenario)
    (journey,) = scenario.loads["session"].journeys
    first, posted, last = journey.steps
    assert first.target == "/notes?q={brace}counter}"
    assert (first.think_s, posted.think_s) == (2.0, 0.0)
    assert posted.body == '{"text":"it\'s\\n{brace}a}"}'
    assert last.expect.statuses == (404,)
    assert first.expect.content_type == "application/json"
    text = (tmp_path / "notes" / "scenario.toml").read_text()
    assert "Bearer" not in text
    assert "left out, because it is a secret: authorization" in text
    assert [check.steps[0].target for check in scenario.contract] == ["/notes?q={brace}counter}"]  # type: ignore[union-attr]
    again = touchstone(tmp_path, "new", "notes", "--from-har", str(har(tmp_path, SESSION)))
    assert again.returncode == 2
    assert "there is a scenario already" in again.stderr


@pytest.mark.parametrize("entries", [[], {}, [{"request": {}}], [entry(0, "GET", "https://a/", 0)], None])
def test_what_is_no_recording_is_refused(tmp_path: Path, entries: Any) -> None:
    with pytest.raises(UsageError):
        draft_from_har(har(tmp_path, entries))
