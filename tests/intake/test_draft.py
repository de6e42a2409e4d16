"""A draft is a scenario that the lab takes, whatever its texts hold, and is written whole or not at all."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from touchstone.failure import TouchstoneError
from touchstone.intake.draft import Draft, DraftLoad, DraftRequest, PlaceholderText


def draft(*requests: DraftRequest, **more: Any) -> Draft:
    return Draft("Notes", "notes.json", requests, [DraftLoad("mix", "A mix", requests)], **more)


def drafted(*requests: DraftRequest, **more: Any) -> dict[str, Any]:
    return tomllib.loads(draft(*requests, **more).toml("notes"))


READ = DraftRequest("read", "GET", "/notes", "reads")


def test_comments_hold_nothing_that_ends_them(tmp_path: Path) -> None:
    guess = "made up:\nid\r\x00\x85\u2028\ud800 [x]"
    noted = DraftRequest("read", "GET", "/notes", "reads", guessed=guess, note="a\nb = 1")
    text = draft(noted, notes=["left out:\n[x]"]).toml("notes")
    assert "# look: made up: id [x]\n" in text
    assert "# a b = 1\n" in text
    assert "# left out: [x]\n" in text
    assert draft(noted).write(tmp_path / "notes").exists()


def test_a_placeholder_is_kept_in_a_template_alone() -> None:
    (sent,) = drafted(
        DraftRequest("read", "GET", PlaceholderText("/notes?key={env.KEY}"), "reads", headers={"x-brace": "{env.KEY}"})
    )["contract"][0]["steps"]
    assert (sent["target"], sent["headers"]) == ("/notes?key={env.KEY}", {"x-brace": "{brace}env.KEY}"})


def test_several_statuses_may_be_right() -> None:
    several = DraftRequest(
        "read", "GET", "/notes", "reads", status=200, other_statuses=[204], content_type="text/plain"
    )
    assert drafted(several)["contract"][0]["steps"][0]["expect"] == {"status": [200, 204]}


def test_the_service_has_started_when_it_answers_a_read_that_needs_no_secret() -> None:
    write = DraftRequest("write", "POST", "/notes", "writes", body="x")
    secret = DraftRequest(
        "own", "GET", "/me", "reads", headers={"authorization": PlaceholderText("Bearer {env.TOKEN}")}
    )
    assert drafted(write, secret, READ)["ready"]["target"] == "/notes"
    assert drafted(write, secret)["ready"]["headers"] == {"authorization": "Bearer {env.TOKEN}"}
    for target in ("/health", "/-/readyz", "/api/health-check/", "/v1/PING"):
        health = DraftRequest("health", "GET", target, "is well")
        assert drafted(write, READ, health)["ready"]["target"] == target
    assert drafted(READ, DraftRequest("group", "GET", "/groups/up-to-date", "reads"))["ready"]["target"] == "/notes"
    assert drafted(write)["ready"] == {"target": "/notes", "expect": {"status": [404, 405]}}, "a start writes nothing"
    assert "# look: name a request that changes nothing" in draft(write).toml("notes")


def test_a_draft_that_cannot_be_a_scenario_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TouchstoneError):
        draft(DraftRequest("read", "CONNECT", "/notes", "reads")).write(tmp_path / "notes")
    assert list(tmp_path.iterdir()) == []


def test_a_draft_in_a_place_that_is_taken_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes" / "scenario.toml").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match=r"notes/scenario\.toml'$"):
        draft(READ).write(tmp_path / "notes")
    assert [one.name for one in (tmp_path / "notes").iterdir()] == ["scenario.toml"]
