"""References lead where the specification says: within a document, to other files, by `$id` and by anchors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.intake.openapi.documents import OK, body_of, document, get, loaded, post, steps_of, text_of

SPLIT = """
openapi: 3.0.3
info: {title: Split, version: "1"}
paths:
  /ping: {$ref: "paths.yaml#/~1ping"}
  /notes: {$ref: paths/notes.json}
  /params:
    get:
      parameters: [{$ref: "params%20of.yaml#/Limit"}]
      responses: {"200": {$ref: "responses.yaml#/Ok"}}
  /gone:
    get:
      parameters: [{$ref: "gone.yaml#/Limit"}]
      responses: {"200": {$ref: "responses.yaml#/Gone"}}
"""
FILES = {
    "paths.yaml": "/ping: {get: {responses: {'200': {description: ok}}}}",
    "paths/notes.json": json.dumps(
        post(
            {"application/json": {"schema": {"$ref": "../schemas/note.yaml"}}}, responses={"201": {"$ref": "../r.yaml"}}
        )
    ),
    "r.yaml": "description: made\ncontent: {application/json: {schema: {$ref: 'schemas/note.yaml#/definitions/Made'}}}",
    "schemas/note.yaml": """
type: object
properties: {text: {$ref: "#/definitions/Text"}, author: {$ref: "./people.yaml#/Author"}}
definitions:
  Text: {type: string, example: hello}
  Made: {type: object, required: [id], properties: {id: {type: integer}}}
""",
    "schemas/people.yaml": "Author: {type: object, properties: {name: {type: string, example: Ann}}}",
    "params of.yaml": "Limit: {name: limit, in: query, required: true, schema: {type: integer, example: 5}}",
    "responses.yaml": "Ok: {description: ok, content: {text/plain: {schema: {type: string}}}}",
}


def test_a_document_may_be_in_several_files(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    steps = steps_of(tmp_path, SPLIT, "api.yaml")
    assert steps["get-ping"]["target"] == "/ping"
    assert json.loads(steps["post-notes"]["body"]) == {"text": "hello", "author": {"name": "Ann"}}
    assert steps["post-notes"]["expect"]["json"] == {"id": {"type": "integer"}}
    assert steps["get-params"]["target"] == "/params?limit=5"
    assert steps["get-params"]["expect"]["content_type"] == "text/plain"
    assert loaded(tmp_path, SPLIT, "api.yaml") == ["/ping", "/params?limit=5"]
    text = text_of(tmp_path, SPLIT, "api.yaml").replace("\n# ", " ")
    assert "'gone.yaml#/Limit' cannot be followed: there is no such file" in text
    assert "'responses.yaml#/Gone' cannot be followed: nothing is there" in text


@pytest.mark.parametrize(
    "ref",
    [
        "#/components/schemas/a~1b~0c%20d",
        "#/components/schemas/a~1b~0c d",
        "api.json#/components/schemas/a~1b~0c%20d",
        "./api.json#/x-list/1",
        "#/x-chain",
        "https://example.org/own",
        "own-relative",
        "#byAnchor",
        "https://example.org/own#/properties/inner",
    ],
)
def test_a_reference_is_a_url_with_a_pointer_or_an_anchor(tmp_path: Path, ref: str) -> None:
    number: dict[str, Any] = {"type": "integer", "example": 42}
    schemas = {
        "a/b~c d": number,
        "Own": {"$id": "https://example.org/own", "properties": {"inner": number}} | number,
        "Relative": {"$id": "own-relative"} | number,
        "Anchored": {"$anchor": "byAnchor"} | number,
    }
    more = {"components": {"schemas": schemas}, "x-list": [0, number], "x-chain": {"$ref": "#/x-list/1"}}
    assert body_of(tmp_path, {"$ref": ref}, **more) == 42


def test_an_id_is_the_base_of_what_is_within(tmp_path: Path) -> None:
    schemas = {
        "Tree": {"$id": "https://example.org/tree", "type": "object", "properties": {"leaf": {"$ref": "leaf"}}},
        "Leaf": {"$id": "https://example.org/leaf", "const": "green"},
    }
    sent = body_of(tmp_path, {"$ref": "#/components/schemas/Tree"}, components={"schemas": schemas})
    assert sent == {"leaf": "green"}


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("https://example.org/schemas.json#/Note", "nothing is fetched from elsewhere"),
        ("#/components/schemas/Gone", "nothing is there"),
        ("#/paths/0", "nothing is there"),
        ("#/openapi/x", "nothing is there"),
        ("#/x-list/one", "nothing is there"),
        ("#gone", "nothing is there"),
        ("gone.json", "there is no such file"),
        ("broken.json#/a", "the file cannot be read"),
        ("//[", "cannot be followed"),
        ("#/x-loop", "leads to itself"),
    ],
)
def test_a_reference_that_leads_nowhere_is_named(tmp_path: Path, ref: str, why: str) -> None:
    (tmp_path / "broken.json").write_text("{")
    parameter = {"$ref": ref}
    held = document({"/ok": get(), "/a": get(parameters=[parameter])}) | {"x-list": [1], "x-loop": {"$ref": "#/x-loop"}}
    text = text_of(tmp_path, held).replace("\n# ", " ")
    assert f"a parameter is left out: the reference {ref!r}" in text
    assert why in text
    assert loaded(tmp_path, held) == ["/ok"]


def test_nothing_is_asked_of_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", refuse)
    held = document({"/a": {"$ref": "http://127.0.0.1:9/a"}, "/b": get(responses=OK)})
    assert loaded(tmp_path, held) == ["/b"]


def test_a_reference_beside_other_keys_keeps_them(tmp_path: Path) -> None:
    schemas = {"Name": {"type": "string", "minLength": 3}}
    sent = body_of(tmp_path, {"$ref": "#/components/schemas/Name", "example": "Anna"}, components={"schemas": schemas})
    assert sent == "Anna"


def test_a_property_may_be_called_as_a_reference_is(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"$ref": {"type": "string", "example": "x"}, "$id": {"const": 1}}}
    assert body_of(tmp_path, schema) == {"$ref": "x", "$id": 1}


@pytest.mark.parametrize("identity", ["http://[", "//[::1", "a b", "", "#", "#odd", "api.json", 7, None])
def test_an_id_that_is_no_url_is_passed_over(tmp_path: Path, identity: Any) -> None:
    schemas = {"Odd": {"$id": identity, "const": 1}}
    held = {"x-odd": {"$id": identity}, "components": {"schemas": schemas}}
    assert body_of(tmp_path, {"$ref": "#/components/schemas/Odd"}, **held) == 1
