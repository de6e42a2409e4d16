"""A right response is what the document says of success, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.intake.openapi.documents import document, get, loaded, steps_of, text_of


def expected(tmp_path: Path, responses: Any, **more: Any) -> dict[str, Any]:
    step = steps_of(tmp_path, document({"/a": get(responses=responses)}, **more))["get-a"]
    return dict(step["expect"])


def of(*media_types: str, schema: Any = None) -> dict[str, Any]:
    return {"content": {one: {} if schema is None else {"schema": schema} for one in media_types}}


@pytest.mark.parametrize(
    ("media_types", "stated"),
    [
        (["application/json"], "application/json"),
        (["Application/JSON"], "application/json"),
        (["application/json;charset=UTF-8"], "application/json"),
        (["application/vnd.demo+json"], "application/vnd.demo+json"),
        (["text/html; charset=utf-8"], "text/html"),
        (["application/xml", "application/json; charset=utf-8"], "application/json"),
        (["*/*", "application/json"], "application/json"),
        (["*/*"], None),
        (["text/*"], None),
        (["application/*"], None),
        (["json"], None),
        ([""], None),
        ([], None),
    ],
)
def test_the_media_type_is_stated_where_it_is_one(tmp_path: Path, media_types: list[str], stated: str | None) -> None:
    assert expected(tmp_path, {"200": of(*media_types)}).get("content_type") == stated


def test_one_of_several_media_types_is_asked_for(tmp_path: Path) -> None:
    held = document({"/a": get(responses={"200": of("application/xml", "application/json")})})
    assert steps_of(tmp_path, held)["get-a"]["headers"] == {"accept": "application/json"}


@pytest.mark.parametrize(
    ("responses", "statuses"),
    [
        ({"200": {}}, 200),
        ({200: {}}, 200),
        ({"404": {}, "201": {}}, 201),
        ({"200": {}, "201": {}, "default": {}}, [200, 201]),
        ({"200": {}, "206": {}, "304": {}}, 200),
        ({"206": {}}, 206),
        ({"201": {}, "2XX": {}}, 201),
        ({"2XX": {}}, [200, 201, 202, 203, 204, 205, 206, 207, 208, 226]),
        ({"2xx": of("text/plain")}, [200, 201, 202, 203, 206, 207, 208, 226]),
        ({"302": {}, "400": {}}, 302),
        ({"301": {}, "308": {}}, [301, 308]),
        ({"3XX": {}}, [300, 301, 302, 303, 305, 307, 308]),
        ({"200": {}, "302": {}}, 200),
        ({"204": of("application/json")}, 204),
        ({"x-200": {}, "200": {}}, 200),
    ],
)
def test_all_successes_are_right_or_else_redirects(tmp_path: Path, responses: Any, statuses: Any) -> None:
    responses = {code: {"description": "x"} | one for code, one in responses.items()}
    held = document({"/a": get(responses=responses)})
    assert steps_of(tmp_path, held)["get-a"]["expect"]["status"] == statuses
    assert "names no status" not in text_of(tmp_path, held)
    assert loaded(tmp_path, held) == ["/a"]


@pytest.mark.parametrize(
    "responses", [{"default": of("text/plain")}, {"404": {}}, {"304": {}}, {}, {"abc": {}}, {"20": {}}]
)
def test_a_status_that_is_not_described_is_marked(tmp_path: Path, responses: Any) -> None:
    held = document({"/ok": get(), "/a": get(responses=responses)})
    assert steps_of(tmp_path, held)["get-a"]["expect"]["status"] == 200
    assert "look: the document names no status of a success: is it 200?" in text_of(tmp_path, held)
    assert loaded(tmp_path, held) == ["/ok"]


def test_what_must_be_in_the_body_is_asked_for_by_its_type(tmp_path: Path) -> None:
    properties = {
        "id": {"type": "integer"},
        "name": {"type": ["string"]},
        "tags": {"$ref": "#/components/schemas/Tags"},
        "either": {"type": ["integer", "string"]},
        "nullable": {"type": ["integer", "null"]},
        "nullable-3.0": {"type": "integer", "nullable": True},
        "any-of": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "hidden": {"type": "string", "writeOnly": True},
        "untyped": {"minLength": 1},
        "not-required": {"type": "string"},
    }
    required = [name for name in properties if name != "not-required"] + ["not-described", 7]
    schema = {"allOf": [{"$ref": "#/components/schemas/Base"}, {"properties": properties, "required": required}]}
    schemas = {"Base": {"type": "object", "required": ["at"], "properties": {"at": {"type": "number"}}}}
    more = {"components": {"schemas": schemas | {"Tags": {"type": "array"}}}}
    wanted = {"at": "number", "id": "integer", "name": "string", "tags": "array"}
    for media_type in ("application/json", "application/problem+json"):
        found = expected(tmp_path, {"200": of(media_type, schema=schema)}, **more)
        assert found["json"] == {name: {"type": kind} for name, kind in wanted.items()}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}},
        {"type": ["object", "null"], "required": ["id"], "properties": {"id": {"type": "integer"}}},
        {"type": "object", "nullable": True, "required": ["id"], "properties": {"id": {"type": "integer"}}},
        {
            "oneOf": [
                {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}},
                {"type": "null"},
            ]
        },
        {"type": "object", "properties": {"id": {"type": "integer"}}},
        {},
        True,
    ],
)
def test_what_may_be_absent_is_not_asked_for(tmp_path: Path, schema: Any) -> None:
    assert expected(tmp_path, {"200": of("application/json", schema=schema)}) == {
        "status": 200,
        "content_type": "application/json",
    }


def test_responses_that_differ_have_in_common_what_both_have(tmp_path: Path) -> None:
    note = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
    both = {"200": of("application/json", schema=note), "201": of("application/json")}
    assert expected(tmp_path, both) == {"status": [200, 201], "content_type": "application/json"}
    assert expected(tmp_path, both | {"202": of("text/plain")}) == {"status": [200, 201, 202]}
    assert expected(tmp_path, both | {"204": {"description": "none"}}) == {"status": [200, 201, 204]}


@pytest.mark.parametrize(
    ("responses", "why"),
    [
        ({"200": {"$ref": "#/gone"}}, "its response 200 cannot be read: the reference '#/gone'"),
        ({"200": []}, "its response 200 cannot be read"),
        ({"200": {"content": "json"}}, "its response 200 cannot be read: `content` is not an object"),
        ({"200": {"content": {"application/json": 1}}}, "the schema of its response cannot be read"),
        ({"200": of("application/json", schema={"$ref": "#/gone"})}, "the schema of its response cannot be read"),
    ],
)
def test_a_response_that_is_not_sound_is_marked(tmp_path: Path, responses: Any, why: str) -> None:
    held = document({"/ok": get(), "/a": get(responses=responses)})
    assert why in text_of(tmp_path, held).replace("\n# ", " ")
    assert loaded(tmp_path, held) == ["/ok"]


def test_a_stream_is_marked_and_not_loaded(tmp_path: Path) -> None:
    head = {"head": {"responses": {"200": {"description": "ok"}}}}
    held = document({"/events": get(responses={"200": of("text/event-stream")}), "/alive": head})
    assert loaded(tmp_path, held) == ["/alive"]
    assert "# look: its response is a stream, which may not end" in text_of(tmp_path, held)
