"""A scenario drafted from an OpenAPI document is one that the lab takes, with what the document says in it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from touchstone.check.folder import check_folder
from touchstone.failure import UsageError
from touchstone.intake.openapi import draft_from_openapi
from touchstone.manifest.catalogue import ScenarioFolder
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario

DOCUMENT = """
openapi: 3.0.3
info: {title: Notes, version: "1"}
servers: [{url: "https://example.org/api"}]
paths:
  /notes:
    get:
      operationId: listNotes
      summary: The newest notes
      parameters:
        - {name: limit, in: query, required: true, schema: {type: integer, minimum: 10}}
        - {name: after, in: query, schema: {type: string}}
      responses:
        200:
          description: ok
          content: {application/json: {schema: {type: object, required: [notes], properties: {notes: {type: array}}}}}
    post:
      operationId: createNote
      parameters: [{name: X-Team, in: header, required: true, example: "it's {team}"}]
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/NewNote"}}}}
      responses:
        "201":
          description: made
          content: {application/json: {schema: {$ref: "#/components/schemas/Note"}}}
        "400": {description: bad}
  /notes/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    delete: {responses: {"204": {description: gone}}}
components:
  schemas:
    NewNote:
      type: object
      properties:
        text: {type: string, example: "say \\"hi\\""}
        parent: {$ref: "#/components/schemas/NewNote"}
    Note:
      type: object
      required: [id, text]
      properties: {id: {type: integer}, text: {type: string}, more: {}}
"""


def drafted(tmp_path: Path, text: str) -> Path:
    source = tmp_path / "api.yaml"
    source.write_text(text, encoding="utf-8")
    target = tmp_path / "notes" / "scenario.toml"
    target.parent.mkdir()
    target.write_text(draft_from_openapi(source).toml("notes"), encoding="utf-8")
    return target


def test_every_operation_becomes_a_check_that_the_lab_takes(tmp_path: Path) -> None:
    file = drafted(tmp_path, DOCUMENT)
    scenario = read_manifest(file, Scenario)
    assert check_folder(ScenarioFolder(file.parent, scenario, ())) == []
    by_id: dict[str, Any] = {check.id: check.steps[0] for check in scenario.contract}
    assert list(by_id) == ["list-notes", "create-note", "delete-notes-id"]
    listed, created, deleted = by_id.values()
    assert listed.target == "/api/notes?limit=10"
    assert listed.expect.json_fields["notes"].type == "array"
    assert created.expect.statuses == (201,)
    assert set(created.expect.json_fields) == {"id", "text"}
    assert created.headers["X-Team"] == "it's {brace}team}"
    assert created.body.startswith('{"text": "say \\"hi\\"", "parent": {"text"')
    assert (deleted.target, deleted.expect.statuses) == ("/api/notes/1", (204,))
    assert [request.name for request in scenario.loads["mix"].requests] == ["list-notes"]
    assert "# look: made up: id" in file.read_text()
    left_out = "left out, for they write or hold values that are made up: POST /api/notes, DELETE /api/notes/1"
    assert f"# {left_out}" in file.read_text()


def test_a_path_that_the_document_gives_an_example_of_is_loaded(tmp_path: Path) -> None:
    given = DOCUMENT.replace("name: id, in: path,", "name: id, in: path, example: 7,").replace("delete:", "get:")
    file = drafted(tmp_path, given)
    loaded = read_manifest(file, Scenario).loads["mix"].requests
    assert [request.target for request in loaded] == ["/api/notes?limit=10", "/api/notes/7"]
    assert "made up: id" not in file.read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("swagger: '2.0'\npaths: {}", "no OpenAPI 3 document"),
        ("openapi: 3.1.0\npaths: {}", "no operation"),
        ("{", "cannot be read"),
        ("[]", "no OpenAPI 3 document"),
    ],
)
def test_what_is_no_such_document_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        drafted(tmp_path, text)
    assert said in str(raised.value)


def test_names_are_unlike_and_fit(tmp_path: Path) -> None:
    text = "openapi: 3.1.0\npaths: {/a/1: {get: {}}, /a-1: {get: {}}, /9: {get: {operationId: 9lives}}}"
    ids = [check["id"] for check in tomllib.loads(drafted(tmp_path, text).read_text())["contract"]]
    assert ids == ["get-a-1", "get-a-1-2", "r-9lives"]
