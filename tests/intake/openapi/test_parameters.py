"""Parameters are written where and how the document says: in paths, queries, header fields and cookies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.intake.openapi.documents import document, get, loaded, steps_of, text_of

COLOR = {"R": 100, "G": 200}
HUES = ["blue", "black"]


def asked(tmp_path: Path, path: str, *parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    return next(iter(steps_of(tmp_path, document({path: get(parameters=list(parameters))}, **more)).values()))


# The table of OpenAPI 3.1.1, section 4.8.12.4.
@pytest.mark.parametrize(
    ("style", "explode", "text", "array", "object_"),
    [
        ("matrix", False, ";color=blue", ";color=blue,black", ";color=R,100,G,200"),
        ("matrix", True, ";color=blue", ";color=blue;color=black", ";R=100;G=200"),
        ("label", False, ".blue", ".blue,black", ".R,100,G,200"),
        ("label", True, ".blue", ".blue.black", ".R=100.G=200"),
        ("simple", False, "blue", "blue,black", "R,100,G,200"),
        ("simple", True, "blue", "blue,black", "R=100,G=200"),
    ],
)
def test_styles_in_a_path(tmp_path: Path, style: str, explode: bool, text: str, array: str, object_: str) -> None:
    for value, written in (("blue", text), (HUES, array), (COLOR, object_)):
        parameter = {
            "name": "color",
            "in": "path",
            "required": True,
            "style": style,
            "explode": explode,
            "example": value,
        }
        assert asked(tmp_path, "/a/{color}/b", parameter)["target"] == f"/a/{written}/b"


@pytest.mark.parametrize(
    ("style", "explode", "text", "array", "object_"),
    [
        ("form", False, "color=blue", "color=blue,black", "color=R,100,G,200"),
        ("form", True, "color=blue", "color=blue&color=black", "R=100&G=200"),
        (None, None, "color=blue", "color=blue&color=black", "R=100&G=200"),
        (None, False, "color=blue", "color=blue,black", "color=R,100,G,200"),
        ("spaceDelimited", False, None, "color=blue%20black", "color=R%20100%20G%20200"),
        ("spaceDelimited", None, None, "color=blue%20black", "color=R%20100%20G%20200"),
        ("pipeDelimited", False, None, "color=blue%7Cblack", "color=R%7C100%7CG%7C200"),
        ("deepObject", True, None, None, "color%5BR%5D=100&color%5BG%5D=200"),
        ("deepObject", None, None, None, "color%5BR%5D=100&color%5BG%5D=200"),
    ],
)
def test_styles_in_a_query(
    tmp_path: Path, style: str | None, explode: bool | None, text: str | None, array: str | None, object_: str
) -> None:
    said = {key: value for key, value in (("style", style), ("explode", explode)) if value is not None}
    for value, written in (("blue", text), (HUES, array), (COLOR, object_)):
        if written is not None:
            parameter = {"name": "color", "in": "query", "required": True, "example": value} | said
            assert asked(tmp_path, "/a", parameter)["target"] == f"/a?{written}"


def test_header_fields_and_cookies(tmp_path: Path) -> None:
    sent = asked(
        tmp_path,
        "/a",
        {"name": "X-Ids", "in": "header", "required": True, "schema": {"type": "array", "example": [1, 2]}},
        {"name": "X-Color", "in": "header", "required": True, "explode": True, "example": COLOR},
        {"name": "X-Text", "in": "header", "required": True, "example": "a, b; c=d/é?".replace("é", "e")},
        {"name": "X-Not-Required", "in": "header", "example": "a"},
        {"name": "sid", "in": "cookie", "required": True, "example": "abc=="},
        {"name": "hues", "in": "cookie", "required": True, "explode": False, "example": HUES},
        {"name": "text", "in": "cookie", "required": True, "example": "a b;c"},
        {"name": "Cookie", "in": "header", "required": True, "example": "raw=1"},
    )
    assert sent["headers"] == {
        "X-Ids": "1,2",
        "X-Color": "R=100,G=200",
        "X-Text": "a, b; c=d/e?",
        "cookie": "sid=abc==; hues=blue,black; text=a%20b%3Bc; raw=1",
    }


def test_what_openapi_ignores_is_said(tmp_path: Path) -> None:
    ignored = [
        {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
        for name in ("Accept", "content-type", "AUTHORIZATION")
    ]
    held = document({"/ok": get(parameters=ignored[:2]), "/a": get(parameters=ignored)})
    steps = steps_of(tmp_path, held)
    assert all("headers" not in step for step in steps.values())
    text = text_of(tmp_path, held).replace("\n# ", " ")
    assert "the parameter Accept is ignored, as OpenAPI says; the parameter content-type is ignored" in text
    assert "look: the parameter Authorization is ignored" in text
    assert loaded(tmp_path, held) == ["/ok"]


def test_what_is_reserved_is_encoded_unless_it_is_allowed(tmp_path: Path) -> None:
    def query(**more: Any) -> str:
        parameter = {"name": "a[b] $c", "in": "query", "required": True, "example": "/x?y=z&ä#[1]%20+"} | more
        return str(asked(tmp_path, "/a", parameter)["target"])

    name = "/a?a%5Bb%5D%20%24c="
    assert query() == f"{name}%2Fx%3Fy%3Dz%26%C3%A4%23%5B1%5D%2520%2B"
    assert query(allowReserved=True) == f"{name}/x?y%3Dz%26%C3%A4%23%5B1%5D%20%2B"
    assert query(allowReserved=True, example="100%") == f"{name}100%25"


def test_content_is_written_as_its_media_type(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "example": {"a": 1}}
    parameter = {"name": "f", "in": "query", "required": True, "content": {"application/json": {"schema": schema}}}
    assert asked(tmp_path, "/a", parameter)["target"] == "/a?f=%7B%22a%22%3A1%7D"
    parameter["content"] = {"application/json": {"schema": {"type": "string"}, "example": "x"}}
    assert asked(tmp_path, "/a", parameter)["target"] == "/a?f=%22x%22"
    parameter["content"] = {"text/plain": {"schema": {"type": "string"}, "example": "x"}}
    assert asked(tmp_path, "/a", parameter)["target"] == "/a?f=x"


def test_an_operations_parameter_takes_the_place_of_its_paths(tmp_path: Path) -> None:
    def limit(value: int, **more: Any) -> dict[str, Any]:
        return {"name": "limit", "in": "query", "required": True, "example": value} | more

    item = {"parameters": [limit(1), limit(5, name="page")]} | get(parameters=[limit(2)])
    assert next(iter(steps_of(tmp_path, document({"/a": item})).values()))["target"] == "/a?limit=2&page=5"


@pytest.mark.parametrize(
    ("path", "target", "look"),
    [
        ("/notes/{id}", "/notes/7", ""),
        ("/notes/{id}/of/{id}", "/notes/7/of/7", ""),
        ("/notes/{id}.{format}", "/notes/7.1", "the path's {format} is not a parameter"),
        ("/notes({id})", "/notes(7)", ""),
        ("/a b/ä/{id}", "/a%20b/%C3%A4/7", ""),
        ("/100%/%41/{id}", "/100%25/%41/7", ""),
        ("/a{b/{id}", "/a%7Bb/7", ""),
        ("/?Action=List&id={id}", "/?Action=List&id=7", ""),
        ("/#Action=Tag/{id}", "/", "is never sent"),
        ("/plain", "/plain", "the parameter id is not in the path"),
    ],
)
def test_a_path_is_filled_in(tmp_path: Path, path: str, target: str, look: str) -> None:
    item = get(parameters=[{"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "example": 7}}])
    held = document({"/ok": get(), path: item})
    assert list(steps_of(tmp_path, held).values())[1]["target"] == target
    text = text_of(tmp_path, held).replace("\n# ", " ")
    assert (f"look: {look}" in text or look in text) if look else "# look" not in text
    assert loaded(tmp_path, held) == (["/ok"] if look else ["/ok", target])


def test_a_query_in_the_path_goes_on(tmp_path: Path) -> None:
    parameter = {"name": "b", "in": "query", "required": True, "example": 2}
    assert asked(tmp_path, "/a?x=1", parameter)["target"] == "/a?x=1&b=2"


@pytest.mark.parametrize(
    ("schema", "made_up"),
    [
        ({"type": "string"}, True),
        ({"type": "integer"}, True),
        ({"type": "string", "format": "uuid"}, True),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, True),
        ({"type": "integer", "minimum": 1}, False),
        ({"type": "boolean"}, False),
        ({"type": "string", "enum": ["a"]}, False),
        ({"type": "string", "default": "a"}, False),
        ({"type": "array", "items": {"type": "integer", "example": 3}}, False),
        ({"type": "object", "properties": {"a": {"const": 1}}}, False),
    ],
)
def test_what_the_document_does_not_give_is_made_up(tmp_path: Path, schema: dict[str, Any], made_up: bool) -> None:
    parameter = {"name": "it", "in": "query", "required": True, "schema": schema}
    held = document({"/ok": get(), "/a": get(parameters=[parameter])})
    assert ("look: made up: it" in text_of(tmp_path, held)) is made_up
    assert (len(loaded(tmp_path, held)) == 1) is made_up


def test_in_a_path_a_limit_names_nothing_that_exists(tmp_path: Path) -> None:
    parameter = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}}
    assert "look: made up: id" in text_of(tmp_path, document({"/ok": get(), "/a/{id}": get(parameters=[parameter])}))


@pytest.mark.parametrize(
    ("parameter", "why"),
    [
        ({"name": "a", "in": "query", "style": "matrix", "example": 1}, "it has the style 'matrix', and in the query"),
        ({"name": "a", "in": "path", "style": "form", "example": 1}, "it has the style 'form', and in the path"),
        ({"name": "a", "in": "query", "style": "deepObject", "example": [1]}, "is not specified"),
        ({"name": "a", "in": "query", "style": "deepObject", "example": {"b": {"c": 1}}}, "is not specified"),
        ({"name": "a b", "in": "header", "example": "x"}, "no header field can be called so"),
        ({"name": "X-A", "in": "header", "example": "a\r\nX-B: c"}, "no header field can have the value"),
        ({"name": "X-A", "in": "header", "example": "ä"}, "no header field can have the value"),
        ({"name": "a b", "in": "cookie", "example": "x"}, "no cookie can be called so"),
        ({"name": "a", "in": "query", "example": "\ud800"}, "not a value of JSON that can be written"),
        ({"name": "a", "in": "querystring", "content": {}}, "the whole query string"),
        ({"name": "", "in": "query"}, "it is called ''"),
        ({"name": {"a": 1}, "in": "query"}, "`name` is not text"),
        ({"name": "a", "in": "query", "content": []}, "`content` is not an object"),
    ],
)
def test_a_parameter_that_is_not_sound_is_left_out_and_named(
    tmp_path: Path, parameter: dict[str, Any], why: str
) -> None:
    held = document({"/ok": get(), "/a/{a}": get(parameters=[parameter | {"required": True, "schema": {}}])})
    assert why in text_of(tmp_path, held).replace("\n# ", " ")
    assert loaded(tmp_path, held) == ["/ok"]
