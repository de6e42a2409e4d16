"""A draft from an OpenAPI 3 document, in JSON or YAML: a check for each operation, and a load of those that read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import yaml

from touchstone.failure import UsageError
from touchstone.intake.draft import Draft, DraftLoad, DraftRequest, slug

_METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
_JSON = "application/json"
_DEEPEST = 8
"""Schemas that contain themselves are filled in so deep."""


def draft_from_openapi(file: Path) -> Draft:
    """Read a document. Raises UsageError that says what it lacks."""
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"the OpenAPI document cannot be read: {error}", where=str(file)) from error
    if not isinstance(document, dict) or not str(document.get("openapi", "")).startswith("3."):
        raise UsageError(
            "this is no OpenAPI 3 document: it has no `openapi: 3.x`",
            where=str(file),
            fix="give a document of version 3; others can be converted to it",
        )
    api = _Api(document)
    requests = list(api.requests())
    if not requests:
        raise UsageError("the document has no operation under `paths`", where=str(file))
    reads = [one for one in requests if one.method == "GET" and not one.guessed]
    title = str(api.at(document, "info").get("title") or file.stem)
    left_out = [f"{one.method} {one.target}" for one in requests if one not in reads] if reads else []
    note = f"left out, for they write or hold values that are made up: {', '.join(left_out)}" if left_out else ""
    return Draft(title, file.name, requests, [DraftLoad("mix", "A mix of requests", reads or requests, note=note)])


class _Api:
    """A document, and how to find one's way in it."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        servers = document.get("servers") or [{}]
        self._base = urlsplit(str(self.resolved(servers[0]).get("url", ""))).path.rstrip("/")

    def resolved(self, node: Any) -> dict[str, Any]:
        """The object, or the one that its `$ref` names; an empty one where there is none."""
        for _ in range(_DEEPEST):
            if not isinstance(node, dict) or "$ref" not in node:
                break
            found: Any = self._document
            for word in str(node["$ref"]).removeprefix("#/").split("/"):
                key = word.replace("~1", "/").replace("~0", "~")
                found = found.get(key) if isinstance(found, dict) else None
            node = found
        return node if isinstance(node, dict) else {}

    def at(self, node: Mapping[str, Any], key: str) -> dict[str, Any]:
        """The object under a key."""
        return self.resolved(node.get(key))

    def requests(self) -> Iterator[DraftRequest]:
        """A request for each operation, in the document's order."""
        for path in self.at(self._document, "paths"):
            item = self.at(self.at(self._document, "paths"), path)
            for method in _METHODS:
                if isinstance(item.get(method), dict):
                    yield self._request(str(path), method, item)

    def _request(self, path: str, method: str, item: Mapping[str, Any]) -> DraftRequest:
        operation = self.at(item, method)
        parameters = {}
        for one in [*(item.get("parameters") or []), *(operation.get("parameters") or [])]:
            parameter = self.resolved(one)
            parameters[parameter.get("in"), str(parameter.get("name"))] = parameter
        target, query, headers, made_up = self._base + path, [], {}, []
        for (place, name), parameter in parameters.items():
            schema = self.at(parameter, "schema")
            text = _as_text(self._sample(parameter, schema))
            if place == "path":
                target = target.replace(f"{{{name}}}", quote(text, safe=""))
                # What the document gives as an example is taken to exist.
                if not self._given(parameter, schema):
                    made_up.append(name)
            elif place == "query" and parameter.get("required"):
                query.append(f"{quote(name, safe='')}={quote(text, safe='')}")
            elif place == "header" and parameter.get("required"):
                headers[name] = text
        body, media_type = self._body(operation)
        if media_type:
            headers["content-type"] = media_type
        status, response_type, fields = self._response(operation)
        summary = str(operation.get("summary") or f"{method.upper()} {path} is answered {status}")
        return DraftRequest(
            name=slug(str(operation.get("operationId") or f"{method} {path}")),
            method=method.upper(),
            target=target + (f"?{'&'.join(query)}" if query else ""),
            says=" ".join(summary.split()),
            status=status,
            headers=headers,
            body=body,
            content_type=response_type,
            json_types=fields,
            guessed=f"made up: {', '.join(made_up)}; name what exists, or capture it in a step before"
            if made_up
            else "",
        )

    def _body(self, operation: Mapping[str, Any]) -> tuple[str | None, str | None]:
        content = self.at(self.at(operation, "requestBody"), "content")
        if not content:
            return None, None
        media_type = _JSON if _JSON in content else next(iter(content))
        sample = self._sample(self.at(content, media_type), self.at(self.at(content, media_type), "schema"))
        return (sample if isinstance(sample, str) else json.dumps(sample, ensure_ascii=False)), str(media_type)

    def _response(self, operation: Mapping[str, Any]) -> tuple[int, str | None, dict[str, str]]:
        """The first success that is described: status, media type, and the types of a JSON object's required fields."""
        responses = self.at(operation, "responses")
        # In YAML a code may be a number.
        by_code = {str(code): one for code, one in responses.items()}
        code = next((code for code in by_code if code.isdecimal() and 200 <= int(code) < 300), "200")
        response = self.resolved(by_code.get(code) or by_code.get("default"))
        content = self.at(response, "content")
        if _JSON not in content:
            return int(code), next(iter(content), None), {}
        schema = self.at(self.at(content, _JSON), "schema")
        properties = self.at(schema, "properties")
        kinds = {str(name): self.at(properties, name).get("type") for name in schema.get("required") or properties}
        known = {"string", "number", "integer", "boolean", "array", "object"}
        return int(code), _JSON, {name: kind for name, kind in kinds.items() if isinstance(kind, str) and kind in known}

    def _sample(self, holder: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 0) -> Any:
        """An example that the document gives, or a value of the schema's form."""
        if given := self._given(holder, schema):
            return given[0]
        for parts in ("oneOf", "anyOf"):
            if schema.get(parts):
                return self._sample({}, self.resolved(schema[parts][0]), depth + 1)
        return self._of_type(schema, depth)

    def _given(self, holder: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Any]:
        return [*self._examples(holder), *self._examples(schema), *(schema.get("enum") or [])]

    def _examples(self, source: Mapping[str, Any]) -> Iterator[Any]:
        if "example" in source:
            yield source["example"]
        examples = source.get("examples")
        if isinstance(examples, dict):
            yield from (self.resolved(one).get("value") for one in examples.values())
        elif isinstance(examples, list):
            yield from examples
        if "default" in source:
            yield source["default"]

    def _of_type(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if depth > _DEEPEST:
            return None
        if kind == "object" or "properties" in schema or "allOf" in schema:
            made: dict[str, Any] = {}
            for part in [*(self.resolved(one) for one in schema.get("allOf") or []), schema]:
                properties = self.at(part, "properties")
                made |= {name: self._sample({}, self.at(properties, name), depth + 1) for name in properties}
            return made
        if kind == "array":
            return [self._sample({}, self.at(schema, "items"), depth + 1)]
        by_kind = {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1.5), "boolean": True}
        return by_kind.get(str(kind), "text")


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
