"""A scenario drafted from an OpenAPI document is one that the lab takes, with what the document says in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.intake.openapi.documents import document, get, loaded, scenario_of, steps_of, text_of
from touchstone.failure import UsageError

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


def test_every_operation_becomes_a_check_that_the_lab_takes(tmp_path: Path) -> None:
    listed, created, deleted = steps_of(tmp_path, DOCUMENT, "api.yaml").values()
    assert list(steps_of(tmp_path, DOCUMENT, "api.yaml")) == ["list-notes", "create-note", "delete-notes-id"]
    assert listed["target"] == "/api/notes?limit=10"
    assert listed["expect"]["json"] == {"notes": {"type": "array"}}
    assert created["expect"] == {
        "status": 201,
        "content_type": "application/json",
        "json": {"id": {"type": "integer"}, "text": {"type": "string"}},
    }
    assert created["headers"]["X-Team"] == "it's {brace}team}"
    assert created["body"] == '{"text": "say \\"hi\\""}'
    assert (deleted["target"], deleted["expect"]["status"]) == ("/api/notes/1", 204)


def test_what_reads_and_is_known_is_loaded(tmp_path: Path) -> None:
    assert loaded(tmp_path, DOCUMENT, "api.yaml") == ["/api/notes?limit=10"]
    text = text_of(tmp_path, DOCUMENT, "api.yaml")
    assert "# look: made up: id;" in text
    left_out = "left out, for they write or hold values that are made up: POST /api/notes, DELETE /api/notes/1"
    assert f"# {left_out}" in text


def test_a_path_that_the_document_gives_an_example_of_is_loaded(tmp_path: Path) -> None:
    given = DOCUMENT.replace("name: id, in: path,", "name: id, in: path, example: 7,").replace("delete:", "get:")
    assert loaded(tmp_path, given, "api.yaml") == ["/api/notes?limit=10", "/api/notes/7"]
    assert "made up: id" not in text_of(tmp_path, given, "api.yaml")


def test_where_nothing_can_be_loaded_unseen_the_load_is_marked_and_not_loaded(tmp_path: Path) -> None:
    held = document({"/notes": {"post": {"responses": {"201": {"description": "made"}}}}})
    assert loaded(tmp_path, held) == ["/notes"]
    assert "profiles = []" in text_of(tmp_path, held)
    assert "# look: nothing reads and is known to be right" in text_of(tmp_path, held)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("swagger: '2.0'\npaths: {}", "no operation"),
        ("swagger: '1.2'\napis: []", "this is Swagger 1.2"),
        ("openapi: 4.0.0\npaths: {}", "this is OpenAPI 4.0.0"),
        ("openapi: 3.1.0\npaths: {}", "no operation"),
        ("openapi: 3.1.0\npaths: []", "no operation under `paths`: look: left out: `paths` is not an object"),
        ("openapi: 3.1.0\nwebhooks: {made: {post: {}}}", "it has webhooks alone"),
        ("openapi: [3]\npaths: {}", "not an OpenAPI document: `openapi` is not text"),
        ("asyncapi: 2.6.0\nchannels: {}", "neither `openapi: 3.x` nor `swagger: 2.0`"),
        ("{", "cannot be read"),
        ("[]", "not an OpenAPI document: it is not an object"),
        ("", "not an OpenAPI document"),
        ("text", "not an OpenAPI document"),
    ],
)
def test_what_is_no_such_document_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        text_of(tmp_path, text, "api.yaml")
    assert said in str(raised.value)
    assert not (tmp_path / "notes").exists()


@pytest.mark.parametrize(
    ("path", "operation", "opens"),
    [
        ("/v1/ws", "", True),
        ("/stream/ws/flags", "", True),
        ("/flags", "summary: Websocket endpoint for changes", True),
        ("/flags", "operationId: open_web_socket", True),
        ("/news", "summary: Reads the news of wsgi and sockets", False),
    ],
)
def test_a_web_socket_is_marked_and_not_loaded(tmp_path: Path, path: str, operation: str, opens: bool) -> None:
    get = f'{{get: {{{operation}{", " if operation else ""}responses: {{"200": {{description: ok}}}}}}}}'
    written = text_of(tmp_path, f"openapi: 3.0.3\npaths:\n  {path}: {get}\n", "api.yaml")
    assert ("# look: its name is that of a WebSocket" in written) is opens
    assert ("profiles = []" in written) is opens


def test_names_are_unlike_and_fit(tmp_path: Path) -> None:
    text = "openapi: 3.1.0\npaths: {/a/1: {get: {}}, /a-1: {get: {}}, /9: {get: {operationId: 9lives}}}"
    checks = scenario_of(tmp_path, text, "api.yaml")["contract"]
    assert [check["id"] for check in checks] == ["get-a-1", "get-a-1-2", "r-9lives"]


def test_one_bad_element_is_left_out_and_named(tmp_path: Path) -> None:
    held = document(
        {
            "/good": get(),
            "no-slash": get(),
            "/text": "get",
            "/list": {"get": ["responses"]},
            "/parameters": get(parameters={"name": "a"}),
            "/parameter": get(parameters=["a", {"name": "b"}, {"name": "c", "in": "body"}]),
            "/responses": get(responses=["200"]),
            "/missing": {"$ref": "#/components/pathItems/none"},
            "/itself": {"$ref": "#/paths/~1itself"},
            "x-own": {"get": {}},
        }
    )
    text = text_of(tmp_path, held)
    assert loaded(tmp_path, held) == ["/good"]
    for named in (
        "left out: no-slash: a path begins with a slash",
        "left out: /text: `/text` is not an object",
        "left out: GET /list: `get` is not an object",
        "parameters are left out: `parameters` is not an array",
        "a parameter is left out: it is not an object",
        "it is called 'b', and is in ''",
        "its responses cannot be read",
        "left out: /missing: the reference '#/components/pathItems/none' cannot be followed",
        "left out: /itself: the reference '#/paths/~1itself' leads to itself",
    ):
        assert named in text.replace("\n# ", " "), named


def test_what_a_scenario_does_not_know_is_named(tmp_path: Path) -> None:
    asked = get(callbacks={"done": {}}, deprecated=True) | {"query": {}, "additionalOperations": {"COPY": {}}}
    text = text_of(tmp_path, document({"/a": asked}, webhooks={"newNote": {"post": {}}}))
    assert "# left out: the webhooks newNote" in text
    assert "# left out: /a: query, a method that no scenario has" in text
    assert "# left out: /a: additionalOperations" in text
    assert "# its callbacks are not drafted; deprecated" in text


def test_a_draft_has_no_text_that_cannot_be_written(tmp_path: Path) -> None:
    held = document({"/a": get(summary="a \ud800 \x00\n[x]", operationId="\udfff")}, info={"title": "N\n\ud83d"})
    scenario = scenario_of(tmp_path, held)
    assert scenario["title"] == "N \ufffd"
    assert scenario["contract"][0]["says"] == "a \ufffd [x]"
