"""Takes the types of a manifest's tables apart: their keys, the members of a union, and the way to one place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

Model = type[BaseModel]
_ANNOTATED: Any = Annotated


def keys(model: Model) -> dict[str, FieldInfo]:
    """The keys of a table as a file writes them. What only the reader sets, such as the folder, is none of them."""
    return {f.alias or name: f for name, f in model.model_fields.items() if f.annotation is not Path}


def whole(field: FieldInfo) -> Any:
    """The annotation of a field, with the metadata that pydantic took off it."""
    return _ANNOTATED[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def bare(annotation: Any) -> Any:
    """An annotation without its metadata."""
    return bare(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation


def metadata(annotation: Any) -> Iterator[Any]:
    """The metadata of an annotation, that of its `Field` among it."""
    if get_origin(annotation) is Annotated:
        inner, *outer = get_args(annotation)
        yield from metadata(inner)
        for one in outer:
            yield from one.metadata if isinstance(one, FieldInfo) else [one]


def members(annotation: Any) -> list[Any]:
    """The members of a union but None; of anything else the annotation itself."""
    union = bare(annotation)
    if get_origin(union) not in {Union, UnionType}:
        return [annotation]
    return [member for one in get_args(union) if one is not NoneType for member in members(one)]


def is_table(annotation: Any) -> TypeGuard[Model]:
    """Whether it is a table with keys of its own."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def tag(model: Model) -> str | None:
    """The value of `kind` by which a union tells this table from its others."""
    field = model.model_fields.get("kind")
    values = get_args(field.annotation) if field is not None else ()
    return str(values[0]) if len(values) == 1 else None


@dataclass(frozen=True)
class ErrorLocation:
    """A place in a manifest that pydantic names."""

    key: tuple[int | str, ...]
    """As the file writes it."""
    table: Model
    """The table that stands there, or the one around it."""
    annotation: Any
    """The type of what stands there; None if nothing may."""
    named: tuple[int, ...]
    """Which parts of pydantic's place are not of the file: each names a member of a union."""


def place_of(model: Model, location: Sequence[int | str]) -> ErrorLocation:
    """The place that a location of pydantic's means in a file of this type."""
    key: list[int | str] = []
    named: list[int] = []
    current: Any = model
    table = model
    for position, part in enumerate(location):
        choices = members(current)
        if len(choices) > 1:
            named.append(position)
            current = next((one for one in choices if _means(str(part), bare(one))), None)
        else:
            kind = bare(choices[0])
            if part == "[key]" and get_origin(kind) is dict:
                continue
            key.append(part)
            current = _below(kind, part)
        there = [bare(one) for one in members(current)]
        table = there[0] if len(there) == 1 and is_table(there[0]) else table
    return ErrorLocation(tuple(key), table, current, tuple(named))


def _means(label: str, member: Any) -> bool:
    """Whether pydantic means this member of a union: `Send`, `function-after[its_validator(), Send]`, `list[int]`."""
    if is_table(member):
        return label == tag(member) or label.rstrip("]").rpartition(" ")[-1] == member.__name__
    return label == str(member)


def _below(kind: Any, part: int | str) -> Any:
    if is_table(kind):
        field = keys(kind).get(str(part))
        return None if field is None else whole(field)
    return get_args(kind)[-1] if get_origin(kind) in {list, dict} else None
