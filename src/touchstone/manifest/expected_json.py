"""What a field of a JSON body must be: a value, or any of a type.

The contract is checked here and a load in the engine, which compares arrays and objects as a whole: within them it
neither fills in placeholders nor knows types, so that there they are refused for both.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, PlainValidator
from typing_extensions import TypeAliasType

from touchstone.manifest.base import DocumentedAs, ManifestModel
from touchstone.manifest.template import CONSTANT, TemplateText, parse, placeholder

TypeName = Literal["string", "number", "integer", "boolean", "null", "array", "object"]
_TYPES: tuple[TypeName, ...] = get_args(TypeName)
_WHOLE = "an array or an object is compared as a whole"
_INSTEAD = "compare the body by `body` or `pattern`, or leave this key out"


class JsonType(ManifestModel):
    """A JSON field whose type alone is compared."""

    type: TypeName
    """Its JSON type; an `integer` is written without a fraction and an exponent."""


def _field(value: Any) -> Any:
    """A field as it was written. Raises ValueError."""
    if isinstance(value, str):
        parse(value)
        return value
    if isinstance(value, dict) and isinstance(name := _only_type(value), str):
        known = next((one for one in _TYPES if one == name), None)
        if known is None:
            raise ValueError(f"{name!r} is not a type of JSON; the types are {', '.join(_TYPES)}")
        return JsonType(type=known)
    return value if isinstance(value, JsonType) else _whole(value)


def _only_type(table: dict[str, Any]) -> Any:
    """The value of `type` in a table that holds nothing else."""
    return table.get("type") if len(table) == 1 else None


def _whole(value: Any) -> Any:
    """A value that is compared as a whole; `{brace}` in its texts is a brace. Raises ValueError."""
    if isinstance(value, dict):
        if _only_type(value) in _TYPES:
            raise ValueError(f"{_WHOLE}, so that no type can stand in it: {_INSTEAD}")
        return {key: _whole(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, str):
        template = parse(value)
        if any(template.placeholders):
            raise ValueError(f"{_WHOLE}, so that {value!r} in it takes no placeholder: {_INSTEAD}")
        return "".join(map(str, template.pieces))
    if (isinstance(value, float) and not math.isfinite(value)) or not isinstance(value, int | float):
        raise ValueError(f"{value} is not a value of JSON: write a text, a number, a boolean, an array or an object")
    return value


def _only(name: dict[str, Any]) -> Any:
    """A key of a JSON Schema: no table that holds `type` alone, with such a name."""
    return Field(json_schema_extra={"not": {"properties": {"type": name}, "required": ["type"], "maxProperties": 1}})


_Fixed = Annotated[str, Field(json_schema_extra={"not": {"pattern": rf"\{{\{{|{placeholder(*CONSTANT)}"}})]
_Whole = TypeAliasType(
    "_Whole", "_Fixed | float | bool | list[_Whole] | Annotated[dict[str, _Whole], _only({'enum': list(_TYPES)})]"
)
_Written = (
    TemplateText | float | bool | JsonType | list[_Whole] | Annotated[dict[str, _Whole], _only({"type": "string"})]
)
"""A field as a file may write it, for the JSON Schema."""

JsonField = Annotated[
    JsonType | str | int | float | bool | list[Any] | dict[str, Any],
    PlainValidator(_field, json_schema_input_type=_Written),
    DocumentedAs("value, or `{ type = ... }`", "values, or `{ type = ... }`"),
]
"""A value, or a type."""
