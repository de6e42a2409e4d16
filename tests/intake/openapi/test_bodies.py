"""A body is written as its media type asks, and what nobody can know of it is marked."""

from __future__ import annotations

import json
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.intake.openapi.documents import document, get, post, steps_of, text_of

FORM = "application/x-www-form-urlencoded"


def sent(tmp_path: Path, content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return steps_of(tmp_path, document({"/a": post(content)}, **more))["post-a"]


def body(tmp_path: Path, media_type: str, schema: Any, **more: Any) -> str:
    step = sent(tmp_path, {media_type: {"schema": schema} | more})
    assert step["headers"] == {"content-type": media_type}
    return str(step["body"])


def fields(**properties: Any) -> dict[str, Any]:
    """The schema of an object with these values."""
    return {"type": "object", "properties": {name: {"example": value} for name, value in properties.items()}}


def test_texts_and_json(tmp_path: Path) -> None:
    hello = {"type": "string", "example": "hello"}
    assert body(tmp_path, "text/plain", hello) == "hello"
    assert body(tmp_path, "text/csv", hello, example="a,b\r\n1,2\r\n") == "a,b\r\n1,2\r\n"
    assert body(tmp_path, "application/json", hello) == '"hello"'
    assert body(tmp_path, "application/json; charset=utf-8", {"const": {"ä": None}}) == '{"ä": null}'
    assert body(tmp_path, "application/vnd.demo+json", fields(a=1)) == '{"a": 1}'
    assert body(tmp_path, "application/x-ndjson", {"type": "array", "items": fields(a=1)}) == '{"a": 1}\n'
    assert body(tmp_path, "application/jsonl", fields(), example='{"a":1}\n{"a":2}\n') == '{"a":1}\n{"a":2}\n'
    step = sent(tmp_path, {"application/jsonl": {"itemSchema": fields(a=1)}}, openapi="3.2.0")
    assert step["body"] == '{"a": 1}\n'


def test_an_example_of_json_may_be_a_text_that_holds_it(tmp_path: Path) -> None:
    for example in ('{"a": 7}', {"a": 7}):
        assert body(tmp_path, "application/json", fields(a=1), example=example) == '{"a": 7}'
    assert body(tmp_path, "application/json", {"type": "string"}, example='{"a": 7}') == '"{\\"a\\": 7}"'


def test_json_is_sent_where_several_are_taken(tmp_path: Path) -> None:
    several = ["image/png", "application/xml", "multipart/form-data", FORM, "*/*", "application/hal+json"]
    assert sent(tmp_path, {one: {"schema": fields(a=1)} for one in several})["headers"] == {
        "content-type": "application/hal+json"
    }
    assert sent(tmp_path, {one: {"schema": fields(a=1)} for one in several[:4]})["headers"] == {"content-type": FORM}


def test_urlencoded_forms(tmp_path: Path) -> None:
    def form(encoding: dict[str, Any] | None = None, **properties: Any) -> str:
        return body(tmp_path, FORM, fields(**properties), encoding=encoding or {})

    assert form(username="ann b", password="a&b=c", n=1, yes=True) == "username=ann+b&password=a%26b%3Dc&n=1&yes=true"
    assert form(ids=[1, 2]) == "ids=1&ids=2"
    assert parse_qs(form(address={"street": "A & B"})) == {"address": ['{"street": "A & B"}']}
    assert parse_qs(form(lines=[{"a": 1}, {"a": 2}])) == {"lines": ['{"a": 1}', '{"a": 2}']}
    assert form({"ids": {"explode": False}}, ids=[1, 2]) == "ids=1,2"
    assert form({"ids": {"style": "spaceDelimited"}}, ids=[1, 2]) == "ids=1%202"
    assert form({"at": {"style": "deepObject"}}, at={"x": 1, "y": 2}) == "at%5Bx%5D=1&at%5By%5D=2"
    assert form({"url": {"allowReserved": True}}, url="http://a/?b") == "url=http://a/?b"
    assert parse_qs(form({"ids": {"contentType": "application/json"}}, ids=[1, 2])) == {"ids": ["[1, 2]"]}
    assert body(tmp_path, FORM, fields(), example="a=1&b=2") == "a=1&b=2"


def test_multipart_forms(tmp_path: Path) -> None:
    file = {"type": "string", "format": "binary"}
    schema = fields(note="it's\r\nä", meta={"a": 1}, tags=["x", "y"])
    schema["properties"] |= {
        "file": file,
        "files": {"type": "array", "items": file},
        "new": {"contentMediaType": "a/b"},
    }
    schema["properties"]['q"\n'] = {"example": "quoted"}
    encoding = {
        "note": {"contentType": "text/plain; charset=utf-8", "headers": {"X-A": {"example": 1}}},
        "file": {"contentType": "image/*, image/png"},
    }
    step = sent(tmp_path, {"multipart/form-data": {"schema": schema, "encoding": encoding}})
    head = f"Content-Type: {step['headers']['content-type']}\r\n\r\n".encode()
    found = BytesParser(policy=HTTP).parsebytes(head + step["body"].encode())
    parts = [(one.get_param("name", header="content-disposition"), one) for one in found.iter_parts()]
    assert [name for name, _ in parts] == ["note", "meta", "tags", "tags", "file", "files", "new", "q%22%0A"]
    by_name: dict[Any, Any] = dict(parts)
    assert by_name["note"].get_payload(decode=True).decode() == "it's\r\nä"
    assert by_name["note"]["X-A"] == "1"
    assert (by_name["meta"].get_content_type(), by_name["meta"].get_payload()) == ("application/json", '{"a": 1}')
    assert "content-type" not in by_name["tags"]
    assert (by_name["file"].get_content_type(), by_name["file"].get_filename()) == ("image/png", "file")
    assert by_name["files"].get_content_type() == "application/octet-stream"
    assert by_name["new"].get_filename() == "new"
    text = text_of(tmp_path, document({"/a": post({"multipart/form-data": {"schema": schema, "encoding": encoding}})}))
    assert "the file file is image/* or image/png, and what is sent is a text" in text.replace("\n# ", " ")


def test_the_boundary_is_not_in_a_part(tmp_path: Path) -> None:
    step = sent(tmp_path, {"multipart/form-data": {"schema": fields(a="----touchstone")}})
    boundary = step["headers"]["content-type"].partition("boundary=")[2]
    assert step["body"].count(f"--{boundary}") == 2


BOOK = {
    "type": "object",
    "xml": {"name": "book", "namespace": "https://example.com/b", "prefix": "b"},
    "properties": {
        "id": {"type": "integer", "xml": {"attribute": True}, "example": 7},
        "title": {"type": "string", "example": 'A < B & "C"'},
        "author": {
            "type": "string",
            "xml": {"name": "by", "prefix": "x", "namespace": "https://example.com/x"},
            "example": "Ann",
        },
        "plain": {"type": "array", "items": {"type": "string", "xml": {"name": "p"}}, "example": ["1", "2"]},
        "named": {"type": "array", "xml": {"name": "ignored"}, "items": {"type": "string"}, "example": ["3"]},
        "wrapped": {"type": "array", "xml": {"wrapped": True}, "items": {"type": "string"}, "example": ["4"]},
        "both": {
            "type": "array",
            "xml": {"wrapped": True, "name": "all"},
            "items": {"type": "integer", "xml": {"name": "one"}},
            "example": [5, 6],
        },
        "sub": {"type": "object", "properties": {"yes": {"type": "boolean", "example": True}}},
    },
}
AS_XML = (
    '<b:book xmlns:b="https://example.com/b" id="7"><title>A &lt; B &amp; "C"</title>'
    '<x:by xmlns:x="https://example.com/x">Ann</x:by><p>1</p><p>2</p><named>3</named>'
    "<wrapped><wrapped>4</wrapped></wrapped><all><one>5</one><one>6</one></all><sub><yes>true</yes></sub></b:book>"
)


def test_xml(tmp_path: Path) -> None:
    assert body(tmp_path, "application/xml", BOOK) == AS_XML
    assert body(tmp_path, "text/xml", {"type": "string"}, example="<a/>") == "<a/>"
    assert body(tmp_path, "application/x+xml", fields(a=1) | {"xml": {"name": "n"}}) == "<n><a>1</a></n>"
    array = {
        "type": "array",
        "items": {"type": "string", "xml": {"name": "s"}},
        "xml": {"name": "all"},
        "example": ["x"],
    }
    assert body(tmp_path, "application/xml", array) == "<all><s>x</s></all>"


def test_the_root_of_xml_is_called_as_its_schema(tmp_path: Path) -> None:
    ref = {"$ref": "#/components/schemas/Note"}
    more = {"components": {"schemas": {"Note": fields(a=1)}}}
    assert sent(tmp_path, {"application/xml": {"schema": ref}}, **more)["body"] == "<Note><a>1</a></Note>"
    held = document({"/a": post({"application/xml": {"schema": fields(a=1)}})})
    assert steps_of(tmp_path, held)["post-a"]["body"] == "<root><a>1</a></root>"
    assert "does not name the root element" in text_of(tmp_path, held)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ({"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}, "made up: body"),
        ({"application/octet-stream": {}}, "made up: body"),
        ({"image/png": {"schema": {"type": "string", "format": "binary"}}}, "its body is image/png, and what is sent"),
        ({"*/*": {"schema": fields(a=1)}}, "any */* may be sent: is application/json taken?"),
        ({"text/*": {"schema": {"const": "a"}}}, "any text/* may be sent: is text/plain taken?"),
        ({"image/*": {}}, "what is one is not known"),
        ({}, "it has no media type: no `content`"),
        ({"json": {}}, "it has no media type: json"),
        ({FORM: {"schema": {"const": "a"}}}, "a form has named fields"),
        ({"multipart/form-data": {"schema": {"type": "array"}}}, "a form has named fields"),
        ({"multipart/mixed": {"schema": fields(a=1)}}, "its body is multipart/mixed"),
        ({"application/xml": {"schema": fields(**{"a b": 1}) | {"xml": {"name": "n"}}}}, "is not a name of an element"),
        ({"application/xml": {"schema": fields(a="\x01") | {"xml": {"name": "n"}}}}, "XML does not know"),
        ({"application/json": {"schema": {"$ref": "#/gone"}}}, "'#/gone' cannot be followed"),
        ({"application/json": {"schema": 1}}, "a schema is not an object"),
        ({"application/json": []}, "`application/json` is not an object"),
    ],
)
def test_what_is_not_known_of_a_body_is_marked(tmp_path: Path, content: dict[str, Any], why: str) -> None:
    assert why in text_of(tmp_path, document({"/a": post(content)})).replace("\n# ", " ")


@pytest.mark.parametrize(
    ("version", "method", "required", "is_sent"),
    [
        ("3.0.3", "get", True, False),
        ("3.0.3", "delete", True, False),
        ("3.1.0", "delete", True, True),
        ("3.1.0", "get", False, False),
        ("3.1.0", "get", True, True),
        ("3.0.3", "patch", False, True),
    ],
)
def test_methods_that_have_no_body(tmp_path: Path, version: str, method: str, required: bool, is_sent: bool) -> None:
    described = {"required": required, "content": {"application/json": {"schema": {"const": 1}}}}
    operation = get(requestBody=described)["get"]
    held = document({"/a": {method: operation}}, openapi=version)
    assert ("body" in steps_of(tmp_path, held)[f"{method}-a"]) is is_sent
    assert ("its body is left out" in text_of(tmp_path, held)) is not is_sent


def test_braces_in_a_body_are_no_placeholders(tmp_path: Path) -> None:
    text = body(tmp_path, "application/json", {"const": "{counter} {env.HOME} {{x}}"})
    assert json.loads(text.replace("{brace}", "{")) == "{counter} {env.HOME} {{x}}"
    assert "{brace}counter}" in text
