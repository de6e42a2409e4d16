"""Reads a manifest into its type; an error says which file, which key, what was expected and the fix."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from touchstone.failure import UsageError
from touchstone.manifest.location import line_of

Model = TypeVar("Model", bound=BaseModel)


class ManifestError(UsageError):
    """A manifest that cannot be used: where, what was expected, and what to do."""


def read_manifest(path: Path, model: type[Model], guide: str = "docs/add-a-stack.md") -> Model:
    """Read `path` as TOML into `model`. Raises ManifestError naming file, key, expectation and fix.

    `guide` is the document that lists the keys.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ManifestError("there is no such manifest", where=str(path), fix=f"create {path.name} there") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"the manifest cannot be read: {error}", where=str(path)) from error
    try:
        data = tomllib.loads(text)
    except (RecursionError, ValueError) as error:
        # TOMLDecodeError is a ValueError; others come of numbers and dates that Python cannot hold.
        raise ManifestError(
            f"this is not TOML: {error}", where=str(path), fix="correct the syntax at that place"
        ) from error
    try:
        return model.model_validate(data, context={"folder": path.parent})
    except ValidationError as error:
        raise ManifestError(
            "\n".join(_sentence(detail, model, text) for detail in _leading(error.errors())),
            where=str(path),
            fix=f"the keys and their types are listed in {guide}",
        ) from error


def _leading(details: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """The errors worth saying: of a union's branches, only those of the branch that came nearest."""
    unions: dict[tuple[object, ...], dict[str, list[ErrorDetails]]] = {}
    plain: list[ErrorDetails] = []
    for detail in details:
        location = detail["loc"]
        branch = next((i for i, part in enumerate(location) if part in {"Send", "Act", "Wait"}), None)
        if branch is None:
            plain.append(detail)
        else:
            unions.setdefault(location[:branch], {}).setdefault(str(location[branch]), []).append(detail)
    for branches in unions.values():
        nearest: list[ErrorDetails] = min(branches.values(), key=_distance)
        plain += nearest
    return plain


def _distance(errors: Sequence[ErrorDetails]) -> tuple[int, int]:
    """How far a union's branch is from what was written: unknown keys first, then all errors."""
    return sum(error["type"] in {"extra_forbidden", "missing"} for error in errors), len(errors)


def _sentence(detail: ErrorDetails, model: type[BaseModel], text: str) -> str:
    path = [part for part in detail["loc"] if part not in {"Send", "Act", "Wait"}]
    line = line_of(text, path)
    said = _said(detail, model, ".".join(map(str, path)) or "(the whole file)")
    return f"line {line}: {said}" if line else said


def _said(detail: ErrorDetails, model: type[BaseModel], key: str) -> str:
    if detail["type"] == "extra_forbidden":
        known = list(_keys_at(model, detail["loc"][:-1]))
        near = difflib.get_close_matches(str(detail["loc"][-1]), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys here: {', '.join(sorted(known))}"
        return f"key {key!r} is not known; {hint}"
    if detail["type"] == "missing":
        return f"key {key!r} is missing"
    message = detail["msg"].removeprefix("Value error, ")
    given = detail.get("input")
    shown = "" if isinstance(given, Mapping) or detail["type"] == "value_error" else f"; found {given!r}"
    return f"key {key!r}: {message[:1].lower()}{message[1:]}{shown}"


def _keys_at(model: type[BaseModel], location: tuple[int | str, ...]) -> Iterable[str]:
    """The keys that are known where an unknown one was found."""
    current: Any = model
    for part in location:
        models = [m for m in _models_in(current) if issubclass(m, BaseModel)]
        if part in {m.__name__ for m in models}:
            current = next(m for m in models if m.__name__ == part)
            continue
        if not models or not isinstance(part, str):
            continue
        tagged = next((m for m in models if _tag(m) == part), None)
        if tagged is not None:
            current = tagged
            continue
        field = next((f for n, f in models[0].model_fields.items() if (f.alias or n) == part), None)
        if field is not None:
            current = field.annotation
    return [field.alias or name for m in _models_in(current) for name, field in m.model_fields.items()]


def _tag(model: type[BaseModel]) -> str | None:
    """The value of `kind` by which a union tells this model from its others."""
    field = model.model_fields.get("kind")
    values = get_args(field.annotation) if field is not None else ()
    return str(values[0]) if len(values) == 1 else None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in {list, dict, Union, UnionType} or get_args(annotation):
        return [m for arg in get_args(annotation) for m in _models_in(arg)]
    return []
