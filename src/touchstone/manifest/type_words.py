"""The type of a manifest's key in words: `a whole number, at least 1`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from touchstone.manifest.annotation import bare, is_table, members, metadata
from touchstone.manifest.base import DocumentedAs

_PLAIN: dict[Any, tuple[str, str]] = {
    str: ("text", "texts"),
    int: ("whole number", "whole numbers"),
    float: ("number", "numbers"),
    bool: ("boolean", "booleans"),
    Any: ("value", "values"),
}
_BOUNDS = {"ge": "at least {:g}", "gt": "above {:g}", "le": "at most {:g}", "lt": "below {:g}"}


@dataclass(frozen=True)
class _Words:
    one: str
    many: str
    limits: tuple[str, ...] = ()


def in_words(annotation: Any) -> str:
    """What a key takes, with its limits."""
    words = _words(annotation)
    return ", ".join([words.one, *words.limits])


def _words(annotation: Any) -> _Words:
    limits = tuple(_limits(annotation))
    documented = next((one for one in metadata(annotation) if isinstance(one, DocumentedAs)), None)
    if documented is not None:
        return _Words(documented.one, documented.many)
    choices = members(annotation)
    if len(choices) > 1:
        each = list(dict.fromkeys(_words(one) for one in choices))
        return _Words(_either([w.one for w in each]), _either([w.many for w in each]), limits)
    kind = bare(choices[0])
    if choices[0] is not annotation:
        inner = _words(choices[0])
        return _Words(inner.one, inner.many, inner.limits + limits)
    if get_origin(kind) is Literal:
        values = _either([_literal(value) for value in get_args(kind)])
        return _Words(values, values)
    if get_origin(kind) in {list, dict}:
        return _holding(kind, limits)
    one, many = ("table", "tables") if is_table(kind) else _PLAIN[kind]
    return _Words(one, many, limits)


def _holding(kind: Any, limits: tuple[str, ...]) -> _Words:
    """A list, or a table whose keys are the author's."""
    one, many = ("list", "lists") if get_origin(kind) is list else ("table", "tables")
    held = _words(get_args(kind)[-1])
    each = tuple(f"each {limit}" for limit in held.limits)
    return _Words(f"{one} of {held.many}", f"{many} of {held.many}", each + limits)


def _limits(annotation: Any) -> Iterator[str]:
    for one in metadata(annotation):
        for name, text in _BOUNDS.items():
            if (bound := getattr(one, name, None)) is not None:
                yield text.format(bound)
        if getattr(one, "min_length", None):
            yield "not empty" if one.min_length == 1 else f"at least {one.min_length}"
        if getattr(one, "max_length", None):
            yield f"at most {one.max_length} characters"
        if getattr(one, "pattern", None):
            yield f"like `{one.pattern}`"


def _literal(value: object) -> str:
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
