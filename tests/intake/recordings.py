"""HAR files for tests, and what a draft from one holds."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touchstone.intake.har.drafting import draft_from_har
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario

ORIGIN = "http://shop.test"


def entry(method: str, url: str, status: int, **more: Any) -> dict[str, Any]:
    """An entry: `headers` and `post` are of its request; `mime`, `answered` and `content` of its response."""
    asked: dict[str, Any] = {"method": method, "url": url if "://" in url else f"{ORIGIN}{url}"}
    asked["headers"] = fields(more.pop("headers", {}))
    if "post" in more:
        asked["postData"] = more.pop("post")
    answered: dict[str, Any] = {"status": status, "headers": fields(more.pop("answered", {}))}
    answered["content"] = {"size": 2, "mimeType": more.pop("mime", "text/html")}
    if "content" in more:
        answered["content"]["text"] = more.pop("content")
    return {
        "startedDateTime": f"2026-01-05T10:00:{more.pop('at', 0):06.3f}Z",
        "time": 5.0,
        "request": asked,
        "response": answered,
    } | more


def fields(named: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in named.items()]


def har(folder: Path, *entries: Any) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "session.har"
    file.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}), encoding="utf-8")
    return file


def drafted(folder: Path, *entries: Any) -> tuple[Scenario, str]:
    """The scenario that is drafted from a recording, and its text."""
    file = draft_from_har(har(folder, *entries)).write(folder / "session")
    return read_manifest(file, Scenario), file.read_text(encoding="utf-8")


def steps(folder: Path, *entries: Any) -> list[dict[str, Any]]:
    """The steps of the journey that is drafted from a recording, as they are written."""
    _, text = drafted(folder, *entries)
    (journey,) = tomllib.loads(text)["loads"]["session"]["journeys"]
    found: list[dict[str, Any]] = journey["steps"]
    return found


def words(text: str) -> str:
    """The words of a draft's comments, in one line."""
    return " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
