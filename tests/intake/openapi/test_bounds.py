"""Work is bounded: what asks for more is marked, and drafted as far as it goes.

The bounds are lowered here, so that documents pass them that are small enough for anything else that reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import regex

from tests.intake.openapi.documents import document, file_of, get, post
from touchstone.intake.openapi import leaves, schema, validity
from touchstone.intake.openapi.drafting import draft_from_openapi
from touchstone.intake.openapi.part import DocumentNode

_STEPS, _STEPS_OF_ALL = 300, 3_000


def node(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def of_schemas(schemas: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": node(next(iter(schemas)))}}
    return document({"/ok": get(), "/a": post(content)}, components={"schemas": schemas})


def wide(number: int, *, required: bool) -> dict[str, Any]:
    """Schemas of which each has all as properties."""
    properties = {f"p{one}": node(f"s{one}") for one in range(number)}
    described = {"type": "object", "properties": properties}
    return {f"s{one}": described | ({"required": list(properties)} if required else {}) for one in range(number)}


def doubled(levels: int, keyword: str) -> dict[str, Any]:
    """Schemas of which each has the next one twice under a keyword."""
    schemas: dict[str, Any] = {f"s{one}": {keyword: [node(f"s{one + 1}")] * 2} for one in range(levels)}
    return schemas | {f"s{levels}": {"type": "string", "minLength": 2}}


def forked(levels: int) -> dict[str, Any]:
    """Schemas of which each has the next one as two properties that must be there."""
    made: dict[str, Any] = {}
    for one in range(levels):
        inner = node(f"s{one + 1}")
        made[f"s{one}"] = {"type": "object", "required": ["a", "b"], "properties": {"a": inner, "b": inner}}
    return made | {f"s{levels}": {"type": "string"}}


def nested(levels: int) -> dict[str, Any]:
    return {"items": nested(levels - 1)} if levels else {}


MANY: dict[str, dict[str, Any]] = {
    "wide": wide(20, required=False),
    "wide-and-required": wide(20, required=True),
    "all-of-twice": doubled(9, "allOf"),
    "one-of-twice": doubled(9, "oneOf"),
    "any-of-twice": doubled(9, "anyOf"),
    "forked": forked(9),
    "branches": {"N": {"oneOf": [{"properties": {"a": node("N"), f"b{n}": {"const": n}}} for n in range(20)]}},
    "set": {"N": {"type": "array", "uniqueItems": True, "minItems": 2_000, "items": {"type": "integer"}}},
    "arrays": {"N": {"type": "array", "minItems": 60, "items": {"type": "array", "minItems": 60, "items": {}}}},
    "unevaluated": doubled(9, "allOf") | {"s0": {"allOf": [node("s1")] * 2, "unevaluatedProperties": False}},
    "nested": {"N": nested(60)},
}


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Counts schemas put together and keywords looked at."""
    counted = [0]
    put_together, bounded = schema.put_together, validity.SchemaValidator._bounded

    def counting(parts: list[DocumentNode]) -> schema.Schema:
        counted[0] += 1
        return put_together(parts)

    def watched(self: validity.SchemaValidator, keyword: Any) -> Any:
        inner = bounded(self, keyword)

        def counts(*arguments: Any) -> Any:
            counted[0] += 1
            return inner(*arguments)

        return counts

    for room in ("sample", "validity"):
        monkeypatch.setattr(f"touchstone.intake.openapi.{room}._STEPS", _STEPS)
        monkeypatch.setattr(f"touchstone.intake.openapi.{room}._STEPS_OF_ALL", _STEPS_OF_ALL)
    monkeypatch.setattr("touchstone.intake.openapi.sample._MOST_NODES", 500)
    monkeypatch.setattr("touchstone.intake.openapi.sample.put_together", counting)
    monkeypatch.setattr(validity.SchemaValidator, "_bounded", watched)
    yield counted


@pytest.mark.parametrize("name", MANY)
def test_one_schema_is_bounded_work(tmp_path: Path, steps: list[int], name: str) -> None:
    text = draft_from_openapi(file_of(tmp_path, of_schemas(MANY[name]))).toml("notes")
    assert steps[0] < 4 * _STEPS
    assert len(text) < 20_000
    assert 'target = "/a"' in text


def test_what_was_too_much_is_said(tmp_path: Path, steps: list[int]) -> None:
    text = draft_from_openapi(file_of(tmp_path, of_schemas(forked(9)))).toml("notes")
    assert "# look: its body is left out: no value was found for its schema: it asks for too much" in text


def test_a_document_of_many_hard_operations_is_bounded_work(tmp_path: Path, steps: list[int]) -> None:
    schemas = forked(9)
    operations = {f"/{n}": post({"application/json": {"schema": {"allOf": [node("s0")]}}}) for n in range(200)}
    held = document(operations | {"/last": get()}, components={"schemas": schemas})
    text = draft_from_openapi(file_of(tmp_path, held)).toml("notes")
    assert steps[0] < 3 * _STEPS_OF_ALL
    assert "the document asks for too much" in text.replace("\n# ", " ")
    assert 'target = "/199"' in text
    assert 'target = "/last"' in text


@pytest.mark.parametrize("key", ["allOf", "oneOf", "prefixItems", "enum"])
def test_a_value_of_many_aliases_is_bounded_work(tmp_path: Path, steps: list[int], key: str) -> None:
    lines = ["x0: &x0 {type: string}"]
    lines += [f"x{n}: &x{n} {{{key}: [{', '.join([f'*x{n - 1}'] * 8)}]}}" for n in range(1, 6)]
    lines += ["openapi: 3.1.0", "paths:"]
    for said in ("schema", "example"):
        content = f"{{application/json: {{{said}: *x5}}}}"
        lines.append(f"  /{said}: {{post: {{responses: {{201: {{}}}}, requestBody: {{content: {content}}}}}}}")
    text = draft_from_openapi(file_of(tmp_path, "\n".join(lines), "api.yaml")).toml("notes")
    assert steps[0] < 6 * _STEPS
    assert len(text) < 20_000


@pytest.mark.usefixtures("steps")
def test_a_pattern_that_repeats_too_often_is_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves, "_REPEATS", 200)
    for pattern, tried in (("^((a{9}){9}){9}$", False), (r"^((\(a[)]{9}){9}){2}$", True), ("^(a{3}|b{3}){9}$", True)):
        text = draft_from_openapi(file_of(tmp_path, of_schemas({"N": {"type": "string", "pattern": pattern}})))
        assert ("asks for too much" in text.toml("notes").replace("\n# ", " ")) is not tried


@pytest.mark.usefixtures("steps")
def test_a_match_without_end_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def search(pattern: str, _text: str, *, timeout: float) -> None:
        tried.append(pattern)
        raise TimeoutError

    monkeypatch.setattr(regex, "search", search)
    held = of_schemas({"N": {"type": "string", "pattern": "^it ends never$", "example": "it ends"}})
    text = draft_from_openapi(file_of(tmp_path, held)).toml("notes")
    assert tried == ["^it ends never$"]
    assert "no text was found that matches" in text.replace("\n# ", " ")
