"""A drafted value is the document's own, or the simplest that holds its schema; one that does not is marked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.intake.openapi.documents import body_of, document, file_of, get, loaded, post, steps_of, text_of
from touchstone.intake.openapi.part import OpenApiDocument, UnsoundError
from touchstone.intake.openapi.sample import SampleValue, ValueGenerator
from touchstone.intake.openapi.validity import SchemaValidator

THINGS = {
    "tags": ({"type": ["array", "null"], "items": {"type": "string"}}, ["text"]),
    "age": ({"type": ["integer", "null"]}, 1),
    "kind": ({"const": "a"}, "a"),
    "note": ({"anyOf": [{"type": "null"}, {"type": "string"}]}, "text"),
    "opt": ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, 1),
    "obj": ({"type": ["object", "null"], "properties": {"x": {"type": "integer"}}}, {"x": 1}),
    "nul": ({"type": "null"}, None),
    "above": ({"type": "integer", "exclusiveMinimum": 5}, 6),
    "above-3.0": ({"type": "integer", "minimum": 5, "exclusiveMinimum": True}, 6),
    "below": ({"type": "integer", "maximum": 0}, 0),
    "below-3.0": ({"type": "number", "maximum": 0, "exclusiveMaximum": True}, -1),
    "between": ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, 0.25),
    "multiple": ({"type": "integer", "multipleOf": 5}, 5),
    "cents": ({"type": "number", "minimum": 0.125, "maximum": 0.5, "multipleOf": 0.01}, 0.13),
    "both-multiples": ({"allOf": [{"multipleOf": 4}, {"multipleOf": 6}], "type": "integer", "minimum": 1}, 12),
    "uuid": ({"type": "string", "format": "uuid"}, "3f2b8c1e-5d4a-4e6f-9a7b-000000000000"),
    "email": ({"type": "string", "format": "email"}, "ann@example.com"),
    "moment": ({"type": "string", "format": "date-time"}, "2024-05-01T12:00:00Z"),
    "unknown-format": ({"type": "string", "format": "phone"}, "text"),
    "long": ({"type": "string", "minLength": 8}, "textxxxx"),
    "short": ({"type": "string", "maxLength": 2}, "te"),
    "none": ({"type": "string", "maxLength": 0}, ""),
    "pattern": ({"type": "string", "pattern": "^[A-Z]{3}$"}, "AAA"),
    "pattern-of-length": ({"type": "string", "pattern": "^[a-z]+$", "minLength": 6, "maxLength": 7}, "aaaaaa"),
    "pattern-of-unicode": ({"type": "string", "pattern": r"^\p{Lu}{2}\d$"}, "AA0"),
    "pattern-of-a-password": ({"type": "string", "pattern": r"^(?=.*[A-Z])(?=.*\d).{8,}$"}, "Text-1234"),
    "example-3.1": ({"type": "string", "examples": ["e1"]}, "e1"),
    "example": ({"type": "string", "example": "e2", "default": "d"}, "e2"),
    "default": ({"type": "integer", "default": 7}, 7),
    "tuple": ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}, [1, "text"]),
    "closed-tuple": ({"type": "array", "prefixItems": [{"const": 1}], "items": False, "minItems": 1}, [1]),
    "set": (
        {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": True},
        ["text", "text1", "text2"],
    ),
    "set-of-enum": ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True}, ["a", "b"]),
    "set-of-numbers": ({"type": "array", "items": {"multipleOf": 2}, "minItems": 2, "uniqueItems": True}, [2, 4]),
    "empty": ({"type": "array", "items": {"type": "string"}, "maxItems": 0}, []),
    "contains": ({"type": "array", "contains": {"const": 9}}, [9]),
    "map": ({"type": "object", "additionalProperties": {"type": "integer"}}, {}),
    "map-of-two": ({"additionalProperties": {"type": "integer"}, "minProperties": 2}, {"key1": 1, "key2": 1}),
    "required-alone": ({"type": "object", "required": ["a"]}, {"a": "text"}),
    "few": (
        {"properties": {"a": {}, "b": {}, "c": {}}, "required": ["c"], "maxProperties": 2},
        {"a": "text", "c": "text"},
    ),
    "any": ({}, "text"),
    "yes": (True, "text"),
    "merged": ({"allOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {"const": 2}}}]}, {"a": 1, "b": 2}),
    "narrowed": ({"allOf": [{"type": "number"}, {"type": "integer", "minimum": 3}, {"maximum": 9}]}, 3),
    "one-of-two": ({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]}, 1),
    "third-branch": ({"type": "string", "anyOf": [{"type": "integer"}, {"enum": [3]}, {"minLength": 9}]}, "textxxxxx"),
    "shapes": (
        {"required": ["a"], "oneOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {}}}]},
        {"b": "text", "a": "text"},
    ),
    "base64": ({"type": "string", "contentEncoding": "base64"}, "dGV4"),
    "nullable-enum": ({"type": "string", "nullable": True, "enum": [None, "a"]}, "a"),
    "not": ({"type": "string", "not": {"const": "x"}}, "text"),
    "conditional": (
        {"properties": {"a": {"type": "integer"}}, "if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {},
    ),
}


@pytest.mark.parametrize("name", THINGS)
def test_a_value_is_the_simplest_that_holds_its_schema(tmp_path: Path, name: str) -> None:
    schema, value = THINGS[name]
    version = "3.0.3" if "3.0" in name or "nullable" in name else "3.1.0"
    found = body_of(tmp_path, {"required": ["it"], "properties": {"it": schema}}, openapi=version)
    assert found == {"it": value}
    assert "no value was found" not in (tmp_path / "notes" / "scenario.toml").read_text()


@pytest.mark.parametrize("version", ["3.0.0", "3.1.1", "3.2.0"])
def test_what_is_read_only_is_not_sent(tmp_path: Path, version: str) -> None:
    note = {
        "type": "object",
        "required": ["id", "text", "by"],
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "text": {"type": "string"},
            "by": {"$ref": "#/components/schemas/By"},
            "password": {"type": "string", "writeOnly": True},
        },
        "example": {"id": 7, "text": "hello", "by": "me", "password": "p"},
    }
    schemas = {"Note": note, "By": {"type": "string", "readOnly": True}}
    ref = {"$ref": "#/components/schemas/Note"}
    held = document(
        {"/a": post({"application/json": {"schema": ref}})}, openapi=version, components={"schemas": schemas}
    )
    assert json.loads(steps_of(tmp_path, held)["post-a"]["body"]) == {"text": "hello", "password": "p"}
    assert "by its schema" not in text_of(tmp_path, held)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "integer", "minimum": 5, "maximum": 4}, "no number is within its limits"),
        ({"type": "string", "minLength": 5, "maxLength": 4}, "no text is within its limits of length"),
        ({"type": "string", "minLength": 10**9}, "longer than a draft may hold"),
        ({"type": "array", "minItems": 10**9}, "longer than a draft may hold"),
        ({"type": "object", "minProperties": 10**9}, "properties"),
        ({"type": "string", "pattern": "^(?!x)y(?<=x)$"}, "no text was found that matches"),
        ({"type": "string", "pattern": "["}, "no text was found that matches"),
        ({"type": "string", "pattern": "a{20000}"}, "its pattern asks for too much"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "types that exclude each other"),
        ({"not": {}}, "no value was found"),
        (False, "allows no value"),
        ("string", "a schema is not an object"),
        ({"type": "array", "items": {"enum": [1]}, "minItems": 2, "uniqueItems": True}, "elements that differ"),
        ({"enum": []}, "none of the values that it lists"),
        ({"$ref": "#/components/schemas/Loop"}, "its schema has no end"),
        ({"properties": [1]}, "`properties` is not an object"),
        ({"type": "number", "example": 10**400, "minimum": 1e400}, ""),
    ],
)
def test_a_value_that_cannot_be_made_is_marked(tmp_path: Path, schema: Any, why: str) -> None:
    loop = {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/components/schemas/Loop"}}}
    parameter = {"name": "it", "in": "query", "required": True, "schema": schema}
    held = document({"/ok": get(), "/a": get(parameters=[parameter])}, components={"schemas": {"Loop": loop}})
    text = text_of(tmp_path, held).replace("\n# ", " ")
    assert why in text
    assert loaded(tmp_path, held) == (["/ok"] if why else loaded(tmp_path, held))


def test_an_example_that_is_wrong_by_its_schema_is_not_sent(tmp_path: Path) -> None:
    parameter = {"name": "it", "in": "query", "required": True, "schema": {"type": "integer"}, "example": "seven"}
    held = document({"/ok": get(), "/a": get(parameters=[parameter])})
    assert steps_of(tmp_path, held)["get-a"]["target"] == "/a?it=1"
    assert "the document's own example is not right by its schema: 'seven'" in text_of(tmp_path, held).replace(
        "\n# ", " "
    )
    assert loaded(tmp_path, held) == ["/ok"]


@pytest.mark.parametrize(
    ("holder", "value"),
    [
        ({"example": 3}, "3"),
        ({"examples": {"one": {"summary": "first", "value": 4}, "two": {"value": 5}}}, "4"),
        ({"examples": {"far": {"externalValue": "https://example.org/x"}, "near": {"value": 5}}}, "5"),
        ({"examples": {"ref": {"$ref": "#/components/examples/Six"}}}, "6"),
        ({"examples": {"gone": {"$ref": "#/gone"}}, "schema": {"type": "integer", "example": 8}}, "8"),
        ({"example": 3, "schema": {"type": "integer", "example": 8}}, "3"),
        ({"example": 300, "schema": {"type": "integer", "maximum": 9, "default": 8}}, "8"),
        ({"examples": {"new": {"dataValue": 9}}}, "9"),
    ],
)
def test_a_parameters_own_example_comes_first(tmp_path: Path, holder: dict[str, Any], value: str) -> None:
    parameter = {"name": "it", "in": "path", "required": True, "schema": {"type": "integer"}} | holder
    more = {"components": {"examples": {"Six": {"value": 6}}}}
    held = document({"/ok": get(), "/a/{it}": get(parameters=[parameter])}, **more)
    assert steps_of(tmp_path, held)["get-a-it"]["target"] == f"/a/{value}"


def test_a_discriminator_says_which_schema_it_is(tmp_path: Path) -> None:
    def pet(kind: str) -> dict[str, Any]:
        return {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {kind: {"const": True}}}]}

    choice = [{"$ref": "#/components/schemas/Dog"}, {"$ref": "#/components/schemas/Cat"}]
    by = {"propertyName": "kind", "mapping": {"woof": "#/components/schemas/Dog"}}
    schemas = {
        "Pet": {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": {"type": "string"}},
            "discriminator": by,
        },
        "Dog": pet("barks"),
        "Cat": pet("purrs"),
        "Any": {"oneOf": choice, "discriminator": by},
        "Plain": {"oneOf": choice[1:], "discriminator": {"propertyName": "kind"}},
    }
    for version in ("3.0.3", "3.1.0"):
        for name, sent in {
            "Dog": {"kind": "woof", "barks": True},
            "Cat": {"kind": "Cat", "purrs": True},
            "Any": {"kind": "woof", "barks": True},
            "Plain": {"kind": "Cat", "purrs": True},
            "Pet": {"kind": "woof", "barks": True},
        }.items():
            ref = {"$ref": f"#/components/schemas/{name}"}
            more = {"openapi": version, "components": {"schemas": schemas}}
            assert body_of(tmp_path, ref, **more) == sent, (version, name)


def test_recursion_ends(tmp_path: Path) -> None:
    node = {"$ref": "#/components/schemas/Node"}
    for schema, sent in [
        ({"type": "object", "required": ["name"], "properties": {"a": node, "b": node, "name": {}}}, {"name": "text"}),
        ({"oneOf": [node, {"type": "string"}]}, "text"),
        ({"anyOf": [{"type": "array", "items": node}, {"type": "string"}]}, []),
        ({"type": "object", "properties": {"in": {"type": "array", "items": node}}}, {"in": []}),
        (
            {"type": "object", "properties": {"in": {"oneOf": [node, {"type": "null"}]}}, "required": ["in"]},
            {"in": None},
        ),
        ({"type": ["object", "null"], "properties": {"in": node}, "required": ["in"]}, {"in": None}),
        ({"allOf": [node, {"type": "string"}]}, "text"),
    ]:
        assert body_of(tmp_path, node, components={"schemas": {"Node": schema}}) == sent, schema


SCHEMAS = st.recursive(
    st.one_of(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["integer", "number"])},
            optional={
                "minimum": st.integers(-20, 20),
                "maximum": st.integers(-20, 20),
                "exclusiveMinimum": st.integers(-20, 20),
                "multipleOf": st.sampled_from([1, 2, 3, 0.1, 0.25, 7]),
            },
        ),
        st.fixed_dictionaries(
            {"type": st.just("string")},
            optional={
                "minLength": st.integers(0, 30),
                "maxLength": st.integers(0, 30),
                "format": st.sampled_from(
                    ["date", "uuid", "email", "ipv4", "ipv6", "uri", "byte", "date-time", "time"]
                ),
                "pattern": st.sampled_from(["^[a-z]+$", "^[A-Z]{2}[0-9]{3}$", "x", r"^\S+@\S+$", "^(ab|cd)*$"]),
            },
        ),
        st.sampled_from([{"type": "boolean"}, {"type": "null"}, {}, {"const": "c"}, {"enum": [1, "a", None]}]),
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={"minItems": st.integers(0, 4), "maxItems": st.integers(0, 4), "uniqueItems": st.booleans()},
        ),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)},
            optional={
                "required": st.lists(st.sampled_from("abcde"), max_size=3, unique=True),
                "additionalProperties": st.one_of(st.booleans(), inner),
                "minProperties": st.integers(0, 3),
                "maxProperties": st.integers(0, 4),
            },
        ),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=8,
)


def sampled(tmp_path: Path, schema: Any) -> SampleValue:
    root = OpenApiDocument(file_of(tmp_path, {"schema": schema})).root()
    return ValueGenerator(SchemaValidator(version_3_0=False)).sample(root.child("schema"))


@given(SCHEMAS)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_schema_a_value_holds_it_or_is_doubted(tmp_path: Path, schema: Any) -> None:
    try:
        found = sampled(tmp_path, schema)
    except UnsoundError:
        return
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    assert found.doubt or validator.is_valid(found.value)
