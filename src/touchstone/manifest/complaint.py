"""What pydantic says of a manifest, in sentences: which line, which key, what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic_core import ErrorDetails

from touchstone.failure import nearest
from touchstone.manifest.annotation import Model, keys, place_of
from touchstone.manifest.keys import see
from touchstone.manifest.location import line_of
from touchstone.manifest.type_words import in_words


def complaints(details: Sequence[ErrorDetails], model: Model, text: str) -> tuple[str, str]:
    """What is wrong with `text` as such a file, a sentence per line. Also where the keys are listed."""
    worth_saying = _nearest(details, model)
    tables = [place_of(model, detail["loc"]).table for detail in worth_saying]
    return "\n".join(_sentence(detail, model, text) for detail in worth_saying), see(tables)


def _nearest(details: Sequence[ErrorDetails], model: Model, depth: int = 0) -> list[ErrorDetails]:
    """The errors worth saying: of the members of a union, only those of the member that comes nearest."""
    unions: dict[tuple[int | str, ...], dict[str, list[ErrorDetails]]] = {}
    plain: list[ErrorDetails] = []
    for detail in details:
        named = place_of(model, detail["loc"]).named
        if len(named) <= depth:
            plain.append(detail)
            continue
        location, at = detail["loc"], named[depth]
        unions.setdefault(location[:at], {}).setdefault(str(location[at]), []).append(detail)
    for location, by_member in unions.items():
        judged = [_nearest(errors, model, depth + 1) for errors in by_member.values()]
        fitting = [errors for errors in judged if not _is_of_another_kind(errors, location)]
        if fitting:
            nearest: list[ErrorDetails] = min(fitting, key=_distance)
            plain += nearest
        else:
            plain.append(_of_no_kind(judged[0][0], model, location))
    return plain


def _is_of_another_kind(errors: Sequence[ErrorDetails], union: tuple[int | str, ...]) -> bool:
    """Whether what was written is not even of a member's kind: a text, where the member is a table."""
    return all(len(error["loc"]) == len(union) + 1 and error["type"].endswith("_type") for error in errors)


def _distance(errors: Sequence[ErrorDetails]) -> tuple[int, int]:
    """How far a member is from what was written: unknown and missing keys first, then all errors."""
    return sum(error["type"] in {"extra_forbidden", "missing"} for error in errors), len(errors)


def _of_no_kind(error: ErrorDetails, model: Model, union: tuple[int | str, ...]) -> ErrorDetails:
    """One error in place of one for each member."""
    wanted = in_words(place_of(model, union).annotation).replace("`", "")
    return {"type": "union_of_types", "loc": union, "msg": f"Input should be: {wanted}", "input": error["input"]}


def _sentence(detail: ErrorDetails, model: Model, text: str) -> str:
    place = place_of(model, detail["loc"])
    line = line_of(text, place.key)
    sentence = _said(detail, model, ".".join(map(str, place.key)) or "(the whole file)")
    return f"line {line}: {sentence}" if line else sentence


def _said(detail: ErrorDetails, model: Model, key: str) -> str:
    if detail["type"] == "extra_forbidden":
        known = list(keys(place_of(model, detail["loc"][:-1]).table))
        near = nearest(str(detail["loc"][-1]), known)
        hint = f"did you mean {near!r}?" if near else f"known keys here: {', '.join(sorted(known))}"
        return f"key {key!r} is not known; {hint}"
    if detail["type"] == "missing":
        return f"key {key!r} is missing"
    message = detail["msg"].removeprefix("Value error, ")
    given = detail.get("input")
    shown = "" if isinstance(given, Mapping) or detail["type"] == "value_error" else f"; found {given!r}"
    return f"key {key!r}: {message[:1].lower()}{message[1:]}{shown}"
