"""Small documents, and what is drafted from them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from touchstone.check.folder import check_folder
from touchstone.intake.openapi.drafting import draft_from_openapi
from touchstone.manifest.catalogue import ScenarioFolder
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario

OK = {"200": {"description": "ok"}}


def document(paths: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"openapi": "3.1.0", "info": {"title": "Notes", "version": "1"}, "paths": paths} | more


def get(**more: Any) -> dict[str, Any]:
    return {"get": {"responses": OK} | more}


def post(content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"post": {"requestBody": {"content": content}, "responses": {"201": {"description": "made"}}} | more}


def file_of(tmp_path: Path, held: Any, name: str = "api.json") -> Path:
    file = tmp_path / name
    file.write_text(held if isinstance(held, str) else json.dumps(held), encoding="utf-8")
    return file


def text_of(tmp_path: Path, held: Any, name: str = "api.json") -> str:
    """The text of the scenario, which the lab takes."""
    folder = tmp_path / "notes"
    written = draft_from_openapi(file_of(tmp_path, held, name)).write(folder)
    scenario = read_manifest(written, Scenario)
    found = check_folder(ScenarioFolder(folder, scenario, ()))
    # A load in which nothing is known to be right waits for its user.
    assert [problem for problem in found if "run in no profile" not in problem.what] == []
    return written.read_text(encoding="utf-8")


def scenario_of(tmp_path: Path, held: Any, name: str = "api.json") -> dict[str, Any]:
    return tomllib.loads(text_of(tmp_path, held, name))


def steps_of(tmp_path: Path, held: Any, name: str = "api.json") -> dict[str, dict[str, Any]]:
    """What each check sends, by its name."""
    return {check["id"]: check["steps"][0] for check in scenario_of(tmp_path, held, name)["contract"]}


def loaded(tmp_path: Path, held: Any, name: str = "api.json") -> list[str]:
    """The targets of the load."""
    return [request["target"] for request in scenario_of(tmp_path, held, name)["loads"]["mix"]["requests"]]


def body_of(tmp_path: Path, schema: Any, **more: Any) -> Any:
    """What is sent for a schema, as JSON."""
    held = document({"/a": post({"application/json": {"schema": schema}})}, **more)
    return json.loads(steps_of(tmp_path, held)["post-a"]["body"])
