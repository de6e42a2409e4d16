"""Holds a drafted value against its schema, by the validators of openapi-schema-validator, within bounded work."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from jsonschema.exceptions import UnknownType, ValidationError
from jsonschema.validators import extend
from openapi_schema_validator import OAS30WriteValidator, OAS31Validator
from referencing.exceptions import Unresolvable

from touchstone.intake.openapi.leaves import matches
from touchstone.intake.openapi.part import DocumentNode

_STEPS, _STEPS_OF_ALL = 15_000, 300_000
"""Keywords that are looked at for one value that is sought, and for a whole document: some fifteen seconds."""
_MALFORMED = (TypeError, AttributeError, LookupError, ValueError, ArithmeticError, re.error, UnknownType, Unresolvable)
"""What a keyword raises whose value is not of the kind that it should be."""
_SHOWN = 160

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]


class TooMuchError(Exception):
    """The work that a document asks for is more than a draft is worth."""


class SchemaValidator:
    """Holds values against the schemas of one document."""

    def __init__(self, *, version_3_0: bool) -> None:
        base = OAS30WriteValidator if version_3_0 else OAS31Validator
        self._refer: Keyword = base.VALIDATORS["$ref"]
        self._referred: set[tuple[str, int]] = set()
        # Only those of 3.0 heed a discriminator; without it, schemas that are alike exclude each other in a `oneOf`.
        choices = {name: OAS30WriteValidator.VALIDATORS[name] for name in ("oneOf", "anyOf")}
        keywords = base.VALIDATORS | _OWN | choices | {"$ref": self._reference}
        self._left, self._left_of_all = _STEPS, _STEPS_OF_ALL
        self._validator: Any = extend(  # type: ignore[no-untyped-call]
            base, {name: self._bounded(keyword) for name, keyword in keywords.items()}
        )

    def begin(self) -> None:
        """Start the search for another value. The work for all candidates is counted together."""
        self._left_of_all -= _STEPS - self._left
        self._left = min(_STEPS, self._left_of_all)

    def fault(self, parts: list[DocumentNode], value: Any) -> str:
        """What is wrong with a value that is sent, in a few words. Empty if it holds all the schemas."""
        self._referred.clear()
        try:
            for part in parts:
                held = part.held if isinstance(part.held, dict | bool) else True
                validator = self._validator(
                    held, _resolver=part.resolver, format_checker=self._validator.FORMAT_CHECKER
                )
                for error in validator.iter_errors(value):
                    return _in_words(error)
        except (TooMuchError, RecursionError):
            return "it could not be held against its schema, which asks for too much"
        except _MALFORMED:
            return ""
        return ""

    def _reference(self, validator: Any, constraint: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        """As JSON Schema has it. What leads to itself for the same value can never be met that way."""
        here = (constraint, id(instance))
        if here in self._referred:
            yield ValidationError(f"{constraint} leads to itself")
            return
        self._referred.add(here)
        try:
            yield from self._refer(validator, constraint, instance, schema)
        finally:
            self._referred.discard(here)

    def _bounded(self, keyword: Keyword) -> Keyword:
        def checked(validator: Any, constraint: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
            self._left -= 1 + (len(instance) // 8 if isinstance(instance, list | dict) else 0)
            if self._left < 0:
                raise TooMuchError
            try:
                yield from keyword(validator, constraint, instance, schema)
            except _MALFORMED:
                return

        return checked


def _in_words(error: ValidationError) -> str:
    message = " ".join(error.message.split())
    shown = message if len(message) <= _SHOWN else f"{message[:_SHOWN]}..."
    return f"{shown} (at {error.json_path})" if error.json_path != "$" else shown


def _nothing(_validator: Any, _said: Any, _instance: Any, _schema: Any) -> Iterator[ValidationError]:
    yield from ()


def _required(validator: Any, constraint: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """As JSON Schema has it, but what is read-only is not asked for: it is not sent."""
    if not isinstance(instance, dict) or not isinstance(constraint, list):
        return
    for name in constraint:
        if name not in instance and not _is_read_only(validator, (schema.get("properties") or {}).get(name)):
            yield ValidationError(f"{name!r} is missing")


def _is_read_only(validator: Any, schema: Any) -> bool:
    for _ in range(5):
        if not isinstance(schema, dict) or schema.get("readOnly") is True:
            return isinstance(schema, dict)
        if not isinstance(ref := schema.get("$ref"), str):
            return False
        schema = validator._resolver.lookup(ref).contents
    return False


def _pattern(_validator: Any, constraint: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not matches(constraint, instance):
        yield ValidationError(f"{instance!r} does not match {constraint!r}")


def _pattern_properties(validator: Any, constraint: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, inner in constraint.items():
            for name, value in instance.items():
                if matches(pattern, name):
                    yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional(validator: Any, constraint: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    patterns = schema.get("patternProperties") or {}
    for name in instance.keys() - (schema.get("properties") or {}).keys():
        if any(matches(pattern, name) for pattern in patterns):
            continue
        if constraint is False:
            yield ValidationError(f"there is no property {name!r}")
        elif isinstance(constraint, dict):
            yield from validator.descend(instance[name], constraint, path=name)


_OWN: dict[str, Keyword] = {
    # With a limit of time to each match.
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "required": _required,
    "readOnly": _nothing,
    # Both walk through all schemas, uncounted; a value that is made has nothing that is not described.
    "unevaluatedProperties": _nothing,
    "unevaluatedItems": _nothing,
}
"""Keywords that are not as in the validators."""
