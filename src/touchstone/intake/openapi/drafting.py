"""A draft from an OpenAPI document, in JSON or YAML: a check for each operation, and a load of those that read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.draft import Draft, DraftLoad, DraftRequest
from touchstone.intake.openapi.operation import Api, request
from touchstone.intake.openapi.part import DocumentNode, OpenApiDocument, UnsoundError
from touchstone.intake.openapi.sample import ValueGenerator
from touchstone.intake.openapi.server import server_of
from touchstone.intake.openapi.swagger import as_openapi
from touchstone.intake.openapi.validity import SchemaValidator

_METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")
_OTHERS = ("query", "additionalOperations")
"""Members of OpenAPI 3.2 for methods that a scenario does not have."""
_READS = ("GET", "HEAD")
_NAMED = 30
"""Requests that are named one by one where several are left out."""


def draft_from_openapi(file: Path) -> Draft:
    """Read a document. Raises UsageError that names the missing part."""
    document = OpenApiDocument(file)
    root = _root(document)
    version = root.text("openapi")
    version_3_0 = version.startswith("3.0")
    api = Api(root, server_of([root]), ValueGenerator(SchemaValidator(version_3_0=version_3_0)), version_3_0)
    notes = [f"look: {api.server.doubt}"] if api.server.doubt else []
    requests: list[DraftRequest] = []
    variables: dict[str, str] = {}
    for path, item in _paths(root, notes):
        for method in _METHODS:
            if method not in item.held:
                continue
            try:
                drafted, needed = request(api, path, method, item)
            except UnsoundError as error:
                notes.append(f"look: left out: {method.upper()} {path}: {error}")
                continue
            requests.append(drafted)
            variables |= needed
        notes += [f"left out: {path}: {one}, a method that no scenario has" for one in _OTHERS if one in item.held]
    webhooks = _keys(root, "webhooks")
    if not requests:
        sent = ["it has webhooks alone, which the service sends"] if webhooks else []
        why = "; ".join([*sent, *notes[:3]])
        raise UsageError(f"the document has no operation under `paths`{f': {why}' if why else ''}", where=str(file))
    if webhooks:
        notes.append(f"left out: the webhooks {', '.join(webhooks)}: the service sends them")
    notes += document.notes
    if variables:
        named = ", ".join(f"{name} ({what})" for name, what in variables.items())
        notes.insert(0, f"Set these variables where touchstone is called: {named}.")
    return Draft(_title(root, file), file.name, requests, [_load(requests)], notes=notes)


def _root(document: OpenApiDocument) -> DocumentNode:
    """The document itself, or one of OpenAPI 3.0 made of Swagger 2.0. Raises UsageError if it is neither."""
    root = document.root()
    where = str(document.file)
    if not isinstance(root.held, dict):
        raise UsageError("this is not an OpenAPI document: it is not an object", where=where)
    try:
        openapi, swagger = root.text("openapi"), root.text("swagger")
        if swagger == "2.0":
            return document.root(as_openapi(root))
    except UnsoundError as error:
        raise UsageError(f"this is not an OpenAPI document: {error}", where=where) from error
    if openapi.startswith(("3.0", "3.1", "3.2")):
        return root
    version = f"OpenAPI {openapi}" if openapi else f"Swagger {swagger}" if swagger else ""
    raise UsageError(
        f"this is {version or 'no OpenAPI document: it has neither `openapi: 3.x` nor `swagger: 2.0`'}",
        where=where,
        fix="give a document of OpenAPI 3.0, 3.1 or 3.2, or of Swagger 2.0; others can be converted to them",
    )


def _paths(root: DocumentNode, notes: list[str]) -> list[tuple[str, DocumentNode]]:
    """The paths and what stands under each. What is not sound is named."""
    try:
        paths = root.object("paths")
    except UnsoundError as error:
        notes.append(f"look: left out: {error}")
        return []
    found = []
    for path in paths.keys:
        if path.startswith("x-"):
            continue
        try:
            item = paths.object(path)
            if not path.startswith("/"):
                raise UnsoundError("a path begins with a slash")
            found.append((path, item))
        except UnsoundError as error:
            notes.append(f"look: left out: {path}: {error}")
    return found


def _load(requests: Sequence[DraftRequest]) -> DraftLoad:
    """A load of what reads, and in which nothing is guessed."""
    known = [one for one in requests if one.method in _READS and not one.guessed]
    left_out = [f"{one.method} {one.target}" for one in requests if one not in known]
    if not known:
        reads = [one for one in requests if one.method in _READS]
        note = (
            "look: nothing reads and is known to be right as it is: put in values that exist, then take "
            "`profiles = []` out, which keeps the requests from being loaded"
        )
        shown = (reads or list(requests))[:_NAMED]
        return DraftLoad("mix", "A mix of requests", shown, note=note, settings={"connections": 16, "profiles": []})
    more = f" and {len(left_out) - _NAMED} others" if len(left_out) > _NAMED else ""
    note = f"left out, for they write or hold values that are made up: {', '.join(left_out[:_NAMED])}{more}"
    return DraftLoad("mix", "A mix of requests", known, note=note if left_out else "")


def _title(root: DocumentNode, file: Path) -> str:
    try:
        return " ".join(root.object("info").text("title").split()) or file.stem
    except UnsoundError:
        return file.stem


def _keys(root: DocumentNode, key: str) -> list[str]:
    held: Any = root.held.get(key)
    return [str(one) for one in held] if isinstance(held, dict) else []
