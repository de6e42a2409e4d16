"""Bodies in XML, by the XML Object (OpenAPI 3.1.1, 4.8.26)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.partial_request import PartialRequest, schema_of
from touchstone.intake.openapi.schema import Schema, put_together
from touchstone.intake.openapi.style import scalar_text

_NAME = re.compile(r"[^\W\d][\w.-]*")
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def xml(asked: PartialRequest, value: Any, content: DocumentNode) -> str:
    """A value as an element. Raises UnsoundError for what cannot be written in XML."""
    if isinstance(value, str) and value.lstrip().startswith("<"):
        return value
    described = schema_of(content)
    schema = _branch(put_together([described] if described is not None else []), value)
    name = _text_of(schema, "name") or next(iter(schema.names), "")
    if not name:
        asked.looks.append("the document does not name the root element of its body")
        name = "root"
    root = Element(_name(schema, name))
    _namespace(root, schema)
    if isinstance(value, list):
        _elements(root, _item_name(schema, name), value, schema)
    else:
        _fill(root, value, schema)
    return tostring(root, encoding="unicode")


def _branch(schema: Schema, value: Any) -> Schema:
    """The schema with the branches of its choices that describe the most of a value."""
    if not isinstance(value, dict):
        return schema
    for choice in schema.choices:
        known = [put_together([branch]) for branch in choice.branches]
        best = max(known, key=lambda one: len(one.properties.keys() & value.keys()), default=None)
        if best is not None:
            schema.properties |= best.properties
            schema.xml = schema.xml or best.xml
            schema.names += best.names
    return schema


def _fill(element: Element, value: Any, schema: Schema) -> None:
    if not isinstance(value, dict):
        element.text = _sound(_json_free(value))
        return
    for key, held in value.items():
        inner = _branch(put_together(schema.properties.get(key, ())), held)
        name = _text_of(inner, "name") or key
        kind = inner.xml.get("nodeType")
        if inner.xml.get("attribute") is True or kind == "attribute":
            element.set(_name(inner, name), _sound(_json_free(held)))
        elif kind in ("text", "cdata"):
            element.text = (element.text or "") + _sound(_json_free(held))
        elif isinstance(held, list):
            wrapped = inner.xml.get("wrapped") is True or kind == "element"
            around = SubElement(element, _name(inner, name)) if wrapped else element
            if wrapped:
                _namespace(around, inner)
            _elements(around, _item_name(inner, key), held, inner)
        else:
            child = SubElement(element, _name(inner, name))
            _namespace(child, inner)
            _fill(child, held, inner)


def _elements(around: Element, name: str, values: Sequence[Any], array: Schema) -> None:
    for value in values:
        schema = _branch(put_together(array.items), value)
        child = SubElement(around, _name(schema, name))
        _namespace(child, schema)
        _fill(child, value, schema)


def _item_name(array: Schema, name: str) -> str:
    return _text_of(put_together(array.items), "name") or name


def _text_of(schema: Schema, key: str) -> str:
    found = schema.xml.get(key)
    return found if isinstance(found, str) else ""


def _name(schema: Schema, name: str) -> str:
    prefix = _text_of(schema, "prefix")
    if not _NAME.fullmatch(name) or (prefix and not _NAME.fullmatch(prefix)):
        raise UnsoundError(f"{name!r} is not a name of an element")
    return f"{prefix}:{name}" if prefix else name


def _namespace(element: Element, schema: Schema) -> None:
    if space := _text_of(schema, "namespace"):
        prefix = _text_of(schema, "prefix")
        element.set(f"xmlns:{prefix}" if prefix else "xmlns", _sound(space))


def _json_free(value: Any) -> str:
    if isinstance(value, dict | list):
        raise UnsoundError("what is within others has no place where it stands in its XML")
    return scalar_text(value)


def _sound(text: str) -> str:
    if _NOT_IN_XML.search(text):
        raise UnsoundError("a text has a character that XML does not know")
    return text
