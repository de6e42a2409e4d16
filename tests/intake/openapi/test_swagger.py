"""A document of Swagger 2.0 is drafted as one of OpenAPI 3.0 that says the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.intake.openapi.documents import loaded, scenario_of, steps_of, text_of

PETS = """
swagger: "2.0"
info: {title: Pets, version: "1"}
host: example.org
basePath: /v2/
schemes: [https, http]
consumes: [application/json, application/xml]
produces: [application/json]
security: [{basic: []}]
securityDefinitions:
  basic: {type: basic}
  key: {type: apiKey, in: header, name: X-Key}
parameters:
  Limit: {name: limit, in: query, type: integer, required: true, minimum: 5}
responses:
  Pets: {description: ok, schema: {type: array, items: {$ref: "#/definitions/Pet"}}}
paths:
  /pets:
    parameters: [{$ref: "#/parameters/Limit"}]
    get:
      operationId: list
      parameters:
        - {name: ids, in: query, required: true, type: array, items: {type: integer}, x-example: [1, 2]}
        - &array {name: multi, in: query, required: true, type: array, collectionFormat: multi, default: [a, a]}
        - {<<: *array, name: ssv, collectionFormat: ssv, default: [a, b]}
        - {<<: *array, name: pipes, collectionFormat: pipes, default: [a, b]}
        - {name: day, in: query, required: true, type: string, format: date, default: 2024-05-01}
      responses: {200: {$ref: "#/responses/Pets"}}
    post:
      operationId: make
      security: [{key: []}]
      parameters: [{name: body, in: body, required: true, schema: {$ref: "#/definitions/Pet"}}]
      responses: {201: {description: made, schema: {$ref: "#/definitions/Pet"}}}
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, type: integer, x-example: 7}]
    get:
      operationId: read
      produces: [image/png, text/plain]
      responses: {200: {description: ok, schema: {type: file}}}
    put:
      operationId: change
      consumes: [application/x-www-form-urlencoded]
      parameters:
        - {name: name, in: formData, type: string, required: true, default: Tom & Co}
        - {name: tags, in: formData, type: array, items: {type: string}, default: [a, b]}
      responses: {default: {description: done}}
    patch:
      operationId: picture
      parameters: [{name: file, in: formData, type: file}, {name: note, in: formData, type: string, default: new}]
      responses: {204: {description: done}}
definitions:
  Pet:
    type: object
    required: [id, name]
    discriminator: kind
    properties: {id: {type: integer, readOnly: true}, name: {type: string, default: Tom}, kind: {type: string}}
"""


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASIC_LOGIN", "x")
    monkeypatch.setenv("API_KEY", "x")


def test_operations_are_those_of_the_document(tmp_path: Path) -> None:
    steps = steps_of(tmp_path, PETS, "api.yaml")
    assert steps["list"]["target"] == ("/v2/pets?limit=5&ids=1,2&multi=a&multi=a&ssv=a%20b&pipes=a%7Cb&day=2024-05-01")
    assert steps["list"]["headers"] == {"authorization": "Basic {env.BASIC_LOGIN}"}
    assert steps["list"]["expect"] == {"status": 200, "content_type": "application/json"}
    assert steps["make"]["target"] == "/v2/pets?limit=5"
    assert steps["make"]["headers"] == {"X-Key": "{env.API_KEY}", "content-type": "application/json"}
    assert json.loads(steps["make"]["body"]) == {"name": "Tom", "kind": "Pet"}
    assert steps["make"]["expect"]["json"] == {"id": {"type": "integer"}, "name": {"type": "string"}}
    assert steps["read"]["target"] == "/v2/pets/7"
    assert steps["change"]["body"] == "name=Tom+%26+Co&tags=a,b"
    assert steps["picture"]["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert 'filename="file"' in steps["picture"]["body"]
    assert loaded(tmp_path, PETS, "api.yaml") == [steps["list"]["target"], "/v2/pets/7"]


def test_what_is_not_sound_is_named(tmp_path: Path) -> None:
    text = """
swagger: "2.0"
info: {title: Broken}
paths:
  /ok: {get: {responses: {200: {description: ok}}}}
  /a:
    get:
      parameters:
        - {$ref: "#/gone"}
        - a
        - {name: t, in: query, required: true, type: array, collectionFormat: tsv}
  /b: {get: [], post: {parameters: {}}}
  /c: get
"""
    found = text_of(tmp_path, text, "api.yaml").replace("\n# ", " ")
    for named in (
        "the reference '#/gone' cannot be followed",
        "a parameter is left out: it is not an object",
        "it has the style 'tsv'",
        "left out: GET /b: `get` is not an object",
        "parameters are left out: `parameters` is not an array",
        "left out: /c: `/c` is not an object",
    ):
        assert named in found, named
    assert loaded(tmp_path, text, "api.yaml") == ["/ok"]


def test_without_a_host_the_base_path_remains(tmp_path: Path) -> None:
    for text, target in [
        ("swagger: '2.0'\nbasePath: /v1\npaths: {/a: {get: {}}}", "/v1/a"),
        ("swagger: 2.0\npaths: {/a: {get: {}}}", "/a"),
    ]:
        assert scenario_of(tmp_path, text, "api.yaml")["ready"]["target"] == target
