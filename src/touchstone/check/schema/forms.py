"""The JSON Schema forms from which rules between the keys of a table are built."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

FILLED: Schema = {"anyOf": [{"type": "array", "minItems": 1}, {"type": "object", "minProperties": 1}]}
"""A list or a table that is not empty."""
TWO: Schema = {"minimum": 2}


def has(*names: str, **values: Schema | str | bool) -> Schema:
    """A table with these keys, and with keys of these values: a schema, or the value itself."""
    held = {name: one if isinstance(one, dict) else {"const": one} for name, one in values.items()}
    return {"required": [*names, *held], **({"properties": held} if held else {})}


def either(*choices: Schema) -> Schema:
    """What at least one of these holds for."""
    return {"anyOf": list(choices)}


def never(*conditions: Schema) -> Schema:
    """What these do not hold for all at once."""
    return {"not": conditions[0] if len(conditions) == 1 else {"allOf": list(conditions)}}


def lacks(*names: str) -> Schema:
    """A table with none of these keys."""
    return never(either(*(has(name) for name in names)))


def when(condition: Schema, follows: Schema) -> Schema:
    """Where the first holds, the second must."""
    return {"if": condition, "then": follows}


def keys(**values: Schema) -> Schema:
    """A table of which these keys have such values, where they are given."""
    return {"properties": values}


def each(value: Schema) -> Schema:
    """A list or a table whose every value is such a one."""
    return {"items": value, "additionalProperties": value}


def without(pattern: str) -> Schema:
    """A text in which this regular expression finds nothing; anything that is not text."""
    return never({"type": "string", "pattern": pattern})


def named(pattern: str) -> Schema:
    """A table of which no key is found by this regular expression."""
    return {"propertyNames": {"not": {"pattern": pattern}}}
