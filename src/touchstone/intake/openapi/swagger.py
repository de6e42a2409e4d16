"""A document of Swagger 2.0 as one of OpenAPI 3.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.intake.openapi.media import FORM, JSON, MULTIPART
from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.partial_request import examples_of

_METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
_OF_SCHEMA = (
    *("type", "format", "items", "default", "enum", "pattern", "multipleOf", "example", "x-nullable"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
    *("minItems", "maxItems", "uniqueItems"),
)
"""Keywords that a parameter of Swagger 2.0 has by itself, and one of OpenAPI 3.0 in its schema."""
_STYLES = {"csv": (None, False), "ssv": ("spaceDelimited", False), "pipes": ("pipeDelimited", False)}
_STYLES |= {"multi": ("form", True)}


def as_openapi(root: DocumentNode) -> dict[str, Any]:
    """The document, its operations by the newer version; references lead where they led. Raises UnsoundError."""
    held = {key: value for key, value in root.held.items() if key != "swagger"}
    held |= {"openapi": "3.0.3", "servers": [_server(root)], "components": {"securitySchemes": _schemes(root)}}
    paths = root.object("paths")
    return held | {"paths": {path: _item(paths, path, root) for path in paths.keys}}


def _server(root: DocumentNode) -> dict[str, str]:
    schemes = _texts(root, "schemes")
    host = root.text("host")
    base = root.text("basePath").strip("/")
    return {"url": (f"{schemes[0] if schemes else 'http'}://{host}" if host else "") + (f"/{base}" if base else "")}


def _texts(part: DocumentNode, key: str) -> list[str]:
    found = part.held.get(key)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _schemes(root: DocumentNode) -> dict[str, Any]:
    found = {}
    for name, scheme in root.objects("securityDefinitions"):
        basic = scheme.held.get("type") == "basic"
        found[name] = {"type": "http", "scheme": "basic"} if basic else scheme.held
    return found


def _item(paths: DocumentNode, path: str, root: DocumentNode) -> Any:
    """A path item. An unsound one is returned unchanged, so that it is named with others."""
    try:
        item = paths.object(path)
        shared = item.array("parameters")
    except UnsoundError:
        return paths.held[path]
    made = {key: value for key, value in item.held.items() if key not in (*_METHODS, "parameters", "$ref")}
    for method in _METHODS:
        try:
            if method in item.held:
                made[method] = _operation(item.object(method), shared, root)
        except UnsoundError:
            made[method] = item.held[method]
    return made


def _operation(operation: DocumentNode, shared: Sequence[DocumentNode], root: DocumentNode) -> dict[str, Any]:
    parameters: dict[Any, Any] = {}
    body: DocumentNode | None = None
    fields: dict[str, DocumentNode] = {}
    for number, reference in enumerate([*shared, *operation.array("parameters")]):
        try:
            parameter = reference.followed()
            place, name = parameter.text("in"), parameter.text("name")
        except (UnsoundError, AttributeError):
            parameters[number] = reference.held
            continue
        if place == "body":
            body = parameter
        elif place == "formData":
            fields[name] = parameter
        else:
            parameters[place, name] = _parameter(parameter)
    made = {key: value for key, value in operation.held.items() if key != "responses"}
    made |= {"parameters": list(parameters.values()), "responses": _responses(operation, root)}
    consumes = _texts(operation, "consumes") or _texts(root, "consumes")
    if fields:
        made["requestBody"] = _form(fields, consumes)
    elif body is not None:
        taken = [one for one in consumes if one not in (FORM, MULTIPART)] or [JSON]
        content = {"schema": body.held.get("schema", {})} | _example(examples_of(body))
        made["requestBody"] = {"required": body.flag("required"), "content": dict.fromkeys(taken, content)}
    return made


def _example(given: Sequence[tuple[Any, str | None]]) -> dict[str, Any]:
    return {"example": given[0][0]} if given else {}


def _schema(parameter: DocumentNode) -> dict[str, Any]:
    schema = {key: parameter.held[key] for key in _OF_SCHEMA if key in parameter.held}
    return schema | {"type": "string", "format": "binary"} if schema.get("type") == "file" else schema


def _parameter(parameter: DocumentNode) -> dict[str, Any]:
    kept = {key: value for key, value in parameter.held.items() if key not in _OF_SCHEMA}
    made = kept | {"schema": _schema(parameter)}
    if parameter.held.get("type") == "array":
        collection = parameter.held.get("collectionFormat", "csv")
        style, explode = _STYLES.get(collection, (collection, False)) if isinstance(collection, str) else (None, False)
        made |= {"explode": explode} | ({"style": style} if style else {})
    return made


def _form(fields: Mapping[str, DocumentNode], consumes: Sequence[str]) -> dict[str, Any]:
    properties = {name: _schema(one) for name, one in fields.items()}
    required = [name for name, one in fields.items() if one.flag("required")]
    is_multipart = any(one.held.get("type") == "file" for one in fields.values()) or (
        MULTIPART in consumes and FORM not in consumes
    )
    joined = [name for name, one in fields.items() if one.held.get("collectionFormat", "csv") == "csv"]
    arrays = [name for name in joined if properties[name].get("type") == "array"]
    encoding = {} if is_multipart else {name: {"style": "form", "explode": False} for name in arrays}
    schema = {"type": "object", "properties": properties, "required": required}
    return {"content": {MULTIPART if is_multipart else FORM: {"schema": schema, "encoding": encoding}}}


def _responses(operation: DocumentNode, root: DocumentNode) -> Any:
    produces = _texts(operation, "produces") or _texts(root, "produces")
    try:
        described = operation.object("responses")
    except UnsoundError:
        return operation.held["responses"]
    made = {}
    for code in described.keys:
        try:
            response = described.object(code)
        except UnsoundError:
            made[code] = described.held[code]
            continue
        schema = response.held.get("schema")
        is_file = isinstance(schema, dict) and schema.get("type") == "file"
        content = {} if schema is None or is_file else {"schema": schema}
        made[code] = {"content": dict.fromkeys(produces, content) if schema is not None else {}}
    return made
