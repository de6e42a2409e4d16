"""JSON is read as JSON, and YAML by the core schema of YAML 1.2, with the texts of what is not text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.intake.openapi.documents import document, file_of, get, loaded, scenario_of, steps_of
from touchstone.failure import UsageError
from touchstone.intake.openapi.plain import plain, read_plain, written

RATES = """
openapi: 3.0.3
info: {title: Rates, version: 1.10}
paths:
  /rates:
    get:
      operationId: rates
      parameters:
        - {name: op, in: query, required: true, schema: {type: string, enum: [=, "<"]}}
        - {name: country, in: query, required: true, schema: {type: string, enum: [NO, SE]}}
        - {name: state, in: query, required: true, schema: {type: string, enum: [on, off]}}
        - {name: yes, in: query, required: true, schema: {type: string, default: y}}
        - {name: at, in: query, required: true, schema: {type: string, example: 12:30:00}}
        - {name: day, in: query, required: true, schema: {type: string, format: date, example: 2024-05-01}}
        - {name: v, in: query, required: true, schema: {type: string, example: 1.10}}
        - {name: ref, in: query, required: true, schema: {type: string, example: 1_000}}
        - {name: sha, in: query, required: true, schema: {type: string, example: 1e3}}
        - {name: n, in: query, required: true, schema: {type: string, example: ~}}
        - {name: bool, in: query, required: true, schema: {type: string, example: true}}
        - {name: hex, in: query, required: true, schema: {type: string}, example: 0x1F}
        - {name: oct, in: query, required: true, schema: {type: string}, examples: {one: {value: 0o17}}}
        - {name: un, in: query, required: true, schema: {$ref: "#/components/schemas/Code"}, example: 007}
        - {name: any, in: query, required: true, example: 1.0}
        - {name: number, in: query, required: true, schema: {type: number, example: 1.50}}
      responses: {200: {description: ok}}
  /zip/{zip}:
    get:
      operationId: zip
      parameters: [{name: zip, in: path, required: true, schema: {type: string, example: 01234}}]
      responses:
        200:
          description: ok
          content:
            application/json:
              schema: {required: [y, on, 1], properties: {y: {type: integer}, on: {type: string}, 1: {type: boolean}}}
  /body:
    post:
      operationId: body
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [on, no, 404]
              properties: {on: {type: string}, no: {type: integer}, 404: {type: [string, null], const: 1.0}}
            example: {on: 2015-02-22T20:00:45.000Z, no: 7, 404: 1.0, more: 1.10}
      responses: {201: {description: ok}}
components: {schemas: {Code: {type: string}}}
"""


KEYWORDS = (
    *("type", "enum", "required", "example", "examples", "default", "const", "format", "items", "properties"),
    *("allOf", "oneOf", "anyOf", "not", "nullable", "readOnly", "discriminator", "xml", "title", "$ref", "$id"),
    *("schema", "parameters", "in", "name", "minimum", "pattern", "additionalProperties", "content", "$anchor"),
)


@pytest.mark.parametrize("name", ["api.json", "api.yaml"])
def test_a_property_may_be_called_as_a_keyword(tmp_path: Path, name: str) -> None:
    properties = {one: {"type": "string", "example": one} for one in KEYWORDS}
    schema = {"type": "object", "required": list(KEYWORDS), "properties": properties}
    operation = {
        "requestBody": {"content": {"application/json": {"schema": schema}}},
        "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}},
    }
    held = document({"/a": {"post": operation}})
    text = json.dumps(held) if name == "api.json" else yaml.safe_dump(held)
    step = steps_of(tmp_path, text, name)["post-a"]
    assert json.loads(step["body"]) == {one: one for one in KEYWORDS}
    assert step["expect"]["json"] == {one: {"type": "string"} for one in KEYWORDS}


def test_what_a_schema_says_is_a_text_is_the_text_as_written(tmp_path: Path) -> None:
    steps = steps_of(tmp_path, RATES, "api.yaml")
    pairs = dict(pair.split("=", 1) for pair in steps["rates"]["target"].partition("?")[2].split("&"))
    assert pairs == {
        "op": "%3D",
        "country": "NO",
        "state": "on",
        "yes": "y",
        "at": "12%3A30%3A00",
        "day": "2024-05-01",
        "v": "1.10",
        "ref": "1_000",
        "sha": "1e3",
        "n": "~",
        "bool": "true",
        "hex": "0x1F",
        "oct": "0o17",
        "un": "007",
        "any": "1.0",
        "number": "1.5",
    }
    assert steps["zip"]["target"] == "/zip/01234"
    assert json.loads(steps["body"]["body"]) == {
        "on": "2015-02-22T20:00:45.000Z",
        "no": 7,
        "404": "1.0",
        "more": 1.1,
    }
    assert set(loaded(tmp_path, RATES, "api.yaml")) == {steps["rates"]["target"], "/zip/01234"}


def test_keys_and_required_names_are_texts(tmp_path: Path) -> None:
    expected = steps_of(tmp_path, RATES, "api.yaml")["zip"]["expect"]["json"]
    assert expected == {"y": {"type": "integer"}, "on": {"type": "string"}, "1": {"type": "boolean"}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("+12", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("yes", "yes"),
        ("NO", "NO"),
        ("On", "On"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("12:30:00", "12:30:00"),
        ("2024-05-01", "2024-05-01"),
        ("2015-02-22T20:00:45.000Z", "2015-02-22T20:00:45.000Z"),
        ("=", "="),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("!!str 1.10", "1.10"),
        ("!!int '3'", 3),
        ("!Ref name", "name"),
        ("!!timestamp 2024-05-01", "2024-05-01"),
    ],
)
def test_scalars_are_those_of_the_core_schema(text: str, value: Any) -> None:
    held, _ = plain(f"key: {text}")
    assert held == {"key": value}
    assert type(held["key"]) is type(value)
    assert written(held, "key") == (None if isinstance(value, str) else text.removeprefix("!!int ").strip("'"))


def test_yaml_has_anchors_merges_and_blocks() -> None:
    held, lost = plain("a: &a {x: 1.10, y: 2}\nb: {<<: *a, y: 3}\nc: [*a, *a]\nd: |\n  line\ne: {<<: [{z: 1}, *a]}\n")
    assert held["b"] == {"x": 1.1, "y": 3}
    assert written(held["b"], "x") == "1.10"
    assert (held["c"][0] is held["a"], held["d"], held["e"]) == (True, "line\n", {"z": 1, "x": 1.1, "y": 2})
    assert lost == []


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        (b'{\n\t"openapi": "3.0.0",\n\t"info": {"title": "Tab"},\n\t"paths": {"/a": {"get": {}}}\n}', "Tab"),
        (b'{"openapi": "3.0.0", "info": {"title": "\\ud83d\\uded2"}, "paths": {"/a": {"get": {}}}}', "\U0001f6d2"),
        (b'\xef\xbb\xbf{"openapi": "3.0.0", "info": {"title": "Mark"}, "paths": {"/a": {"get": {}}}}', "Mark"),
        (b'{"openapi": "3.0.0", "info": {"title": "A\\/B"}, "paths": {"\\/a": {"get": {}}},}', "A/B"),
        ('{"openapi": "3.0.0", "info": {"title": "Å"}, "paths": {"/a": {"get": {}}}}'.encode("utf-16"), "Å"),
        ("openapi: 3.0.0\ninfo: {title: Å}\npaths: {/a: {get: {}}}".encode("utf-16-le"), "Å"),
        (b'%YAML 1.2\n---\nopenapi: 3.0.0\ninfo: {title: "\\ud83d\\ude00"}\npaths: {/a: {get: {}}}', "\U0001f600"),
        (b"openapi: 3.0.0\ninfo: {title: Tab}\npaths:\n  /a:\n    get:\tx: 1\n".replace(b"\tx: 1", b"\t{}"), "Tab"),
    ],
)
def test_documents_are_read_in_the_encoding_that_they_have(tmp_path: Path, raw: bytes, title: str) -> None:
    file = file_of(tmp_path, "")
    file.write_bytes(raw)
    held, _ = read_plain(file)
    assert held["info"]["title"] == title
    assert list(held["paths"]) == ["/a"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1 column 2"),
        ('{"a": NaN, "b": [}', "NaN is not a value of JSON"),
        ("a: [", "line 2"),
        ("a: *b", "line 1, column 4: there is no anchor &b above"),
        ("a: &a [1, *a]", "line 1, column 11: the alias *a is inside the node that it names"),
        ("a: 1\n---\nb: 2", "line 2, column 1: a second document begins here"),
        ("? [1]\n: 2", "line 1, column 5: a key is an object or an array"),
        ("- " * 600, "line 1, column 1001: it is nested too deeply"),
        ("[" * 100_000, "nested too deep"),
        ("- " * 100_000, "nested too deep"),
        ('{"a":' * 100_000, "nested too deep"),
        ("a: \x00", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match="cannot be read") as raised:
        read_plain(file_of(tmp_path, text))
    assert said in str(raised.value)


def test_a_file_that_is_none_or_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_plain(tmp_path)
    with (tmp_path / "large").open("wb") as large:
        large.truncate(2**28)
    with pytest.raises(UsageError, match="larger than 128 MiB"):
        read_plain(tmp_path / "large")
    with pytest.raises(UsageError, match="cannot be read"):
        file = file_of(tmp_path, "")
        file.write_bytes(b"openapi: \xff\xfe\xfa")
        read_plain(file)


def test_a_key_that_stands_twice_is_named(tmp_path: Path) -> None:
    for text, name in [
        ('{"openapi": "3.0.0", "paths": {"/a": {"get": {}}, "/a": {"post": {}}}}', "api.json"),
        ("openapi: 3.0.0\npaths:\n  /a: {get: {}}\n  /a: {post: {}}\n", "api.yaml"),
    ]:
        assert list(steps_of(tmp_path, text, name)) == ["post-a"]
        written_to = (tmp_path / "notes" / "scenario.toml").read_text()
        assert "the key '/a' stands twice in an object: the last counts" in written_to


def test_many_aliases_are_one_value() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40))]
    held, _ = plain("\n".join(lines))
    assert held["a39"][0] is held["a39"][8]


def test_numbers_of_any_size_are_read(tmp_path: Path) -> None:
    huge = "9" * 5000
    for text in (f'{{"a": {huge}}}', f"a: {huge}", "a: 1e999"):
        assert "a" in plain(text)[0]
    held = document({"/a": get(parameters=[{"name": "n", "in": "query", "required": True, "example": 10**50}])})
    assert scenario_of(tmp_path, held)["ready"]["target"] == f"/a?n={10**50}"
