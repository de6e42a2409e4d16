"""A value for a schema: an example that the document gives, or the simplest value that holds the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from touchstone.intake.openapi.leaves import MOST, number, text
from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.plain import written
from touchstone.intake.openapi.schema import Choice, Schema, put_together
from touchstone.intake.openapi.validity import SchemaValidator, TooMuchError

_STEPS = 3_000
"""Schemas that are looked at for one value."""
_STEPS_OF_ALL = 150_000
"""Schemas that are looked at for a whole document: some fifteen seconds."""
_DEEPEST = 12
"""Levels of a value, where its schema asks for more and more."""
_OPTIONAL_DEPTH = 3
"""Properties that are not required are filled in down to here."""
_MOST_OPTIONAL = 60
_AGAIN = 1
"""How often a schema that is required within itself is entered again."""
_BRANCHES = 12
"""Parts of a `oneOf` or an `anyOf` that are tried."""
_LARGEST_EXAMPLE, _MOST_NODES = 256 * 2**10, 20_000
"""Characters of an example, and values within it."""

Said = tuple[Any, str | None]
"""A value of the document, with its text if it is not text."""


@dataclass(frozen=True)
class SampleValue:
    """A value, and what is known of it."""

    value: Any
    made_up: bool = True
    """Whether the document does not give it, and is content with any like it."""
    bounded: bool = False
    """Whether one that is made up follows from the schema's limits: a smallest number, a truth."""
    doubt: str = ""
    """Why it may not be right; empty if it holds its schema."""


class ValueGenerator:
    """Makes values for the schemas of one document, within bounded work."""

    def __init__(self, checker: SchemaValidator) -> None:
        self._checker = checker
        self._left = 0
        self._left_of_all = _STEPS_OF_ALL
        self._optional = 0
        self._made_up = self._invented = False
        self._turn = 0
        self._schemas: dict[tuple[int, str], Schema] = {}
        self._samples: dict[tuple[int, str], SampleValue] = {}

    def sample(self, schema: DocumentNode | None, given: Sequence[Said] = ()) -> SampleValue:
        """A value of the schema, if there is any: one of those given elsewhere, or as the schema has it.

        Raises UnsoundError if none is found, right or not.
        """
        key = (id(schema.held), schema.name) if schema is not None else (0, "")
        if not given and key in self._samples:
            return self._samples[key]
        self._checker.begin()
        found = self._found([] if schema is None else [schema], given)
        if not given:
            self._samples[key] = found
        return found

    def _found(self, parts: list[DocumentNode], given: Sequence[Said]) -> SampleValue:
        wrong = ""
        for stated in given:
            value = self._given(stated, parts)
            fault = self._fault(parts, value)
            if not fault:
                return SampleValue(value, made_up=False)
            wrong = wrong or f"the document's own example is not right by its schema: {fault}"
        # At first with all that is described, then with what must be there alone.
        made: SampleValue | None = None
        why = ""
        for optional in (_MOST_OPTIONAL, 0):
            try:
                made = self._attempt(parts, optional)
            except (UnsoundError, TooMuchError) as error:
                why = why or str(error)
                continue
            fault = self._fault(parts, made.value)
            if not fault:
                return replace(made, doubt=wrong)
            why = fault
        if given and not _unwritable(given[0][0]):
            return SampleValue(self._given(given[0], parts), made_up=False, doubt=wrong)
        if made is None or _unwritable(made.value):
            raise UnsoundError(f"no value was found for its schema: {why}")
        return replace(made, doubt=f"no value was found that is right by its schema: {why}")

    def _attempt(self, parts: list[DocumentNode], optional: int) -> SampleValue:
        if self._left_of_all <= 0:
            raise UnsoundError("the document asks for too much")
        self._left = min(_STEPS, self._left_of_all)
        self._left_of_all -= self._left
        self._optional, self._turn = optional, 0
        self._made_up = self._invented = False
        try:
            value = self._value(parts, (), 0)
        finally:
            self._left_of_all += max(0, self._left)
        return SampleValue(value, self._made_up, self._made_up and not self._invented)

    def _fault(self, parts: list[DocumentNode], value: Any) -> str:
        return _unwritable(value) or self._checker.fault(parts, value)

    def _schema(self, parts: Sequence[DocumentNode]) -> Schema:
        """The schemas put together. Raises UnsoundError, and TooMuchError when there was enough of it."""
        self._left -= 1
        key = (id(parts[0].held), parts[0].name) if len(parts) == 1 else None
        if key is not None and key in self._schemas:
            made = self._schemas[key]
        else:
            made = put_together(parts)
            self._left -= len(made.ids) + len(made.properties) // 4
        if self._left < 0:
            raise TooMuchError("it asks for too much")
        if key is not None:
            self._schemas[key] = made
        return made

    def _given(self, stated: Said, parts: Sequence[DocumentNode]) -> Any:
        """A value of the document as its schema wants it: numbers as texts where texts are wanted."""
        self._left = _STEPS
        try:
            return self._fitted(stated, parts, 0)
        except (TooMuchError, UnsoundError):
            return stated[0]

    def _fitted(self, stated: Said, parts: Sequence[DocumentNode], depth: int) -> Any:
        value, words = stated
        if not parts or depth > _DEEPEST:
            return value
        schema = self._schema(parts)
        types = schema.types
        if isinstance(value, dict) and schema.properties:
            fitted = {}
            for name, held in value.items():
                inner = schema.properties.get(name, [])
                if not (inner and self._schema(inner).read_only):
                    fitted[name] = self._fitted((held, written(value, name)), inner, depth + 1)
            return fitted
        if isinstance(value, list) and schema.items:
            return [
                self._fitted((held, written(value, place)), schema.items, depth + 1) for place, held in enumerate(value)
            ]
        is_text = types is not None and "string" in types and not {"integer", "number", "boolean"} & set(types)
        if is_text and words is not None and (value is not None or words == "~"):
            return words
        if isinstance(value, str) and types and not is_text:
            return _out_of_text(value, types)
        return value

    def _value(
        self, parts: list[DocumentNode], above: tuple[int, ...], depth: int, decided: frozenset[int] = frozenset()
    ) -> Any:
        """A value that satisfies several schemas. `above` encloses them, and `decided` holds the choices made."""
        schema = self._schema(parts)
        for stated in schema.examples:
            value = self._fitted(stated, parts, depth)
            if value is not None and self._turn == 0 and not self._fault(parts, value):
                return value
        if schema.values is not None:
            return self._listed(schema, parts, depth)
        choices = [one for one in schema.choices if one.id not in decided and one.branches]
        if schema.types == [] or (schema.types is None and schema.nullable and not choices):
            return None
        if any(above.count(one) > _AGAIN for one in schema.ids) or depth > _DEEPEST:
            raise UnsoundError("its schema has no end")
        try:
            if choices:
                return self._chosen(choices[0], parts, above, depth, decided)
            return self._of_type(schema, (*above, *schema.ids), depth)
        except UnsoundError:
            if schema.nullable:
                return None
            raise

    def _listed(self, schema: Schema, parts: list[DocumentNode], depth: int) -> Any:
        values = [self._fitted(stated, parts, depth) for stated in schema.values or ()]
        fitting = [value for value in values if value is not None and not self._fault(parts, value)]
        if fitting:
            return fitting[self._turn % len(fitting)]
        if None in values:
            return None
        raise UnsoundError("none of the values that it lists is right by its schema")

    def _chosen(
        self, choice: Choice, parts: list[DocumentNode], above: tuple[int, ...], depth: int, decided: frozenset[int]
    ) -> Any:
        """A value by the first branch of a choice that gives one which holds all."""
        made: list[Any] = []
        why = UnsoundError("none of its branches can be met")
        known = self._made_up, self._invented
        for branch in self._by_use(choice.branches, set(above))[:_BRANCHES]:
            self._made_up, self._invented = known
            try:
                value = self._value([*parts, branch], above, depth, decided | {choice.id})
            except UnsoundError as error:
                why = error
                continue
            if not self._fault(parts, value):
                return value
            made.append(value)
        if not made:
            raise why
        self._made_up = self._invented = True
        return made[0]

    def _by_use(self, parts: list[DocumentNode], above: set[int]) -> list[DocumentNode]:
        """Branches in order, with null behind others and recursive ones last."""
        ranked: list[list[DocumentNode]] = [[], [], []]
        for part in parts:
            try:
                schema = self._schema([part])
            except UnsoundError:
                continue
            ranked[2 if schema.ids & above else 1 if schema.types == [] else 0].append(part)
        return [part for rank in ranked for part in rank]

    def _of_type(self, schema: Schema, within: tuple[int, ...], depth: int) -> Any:
        match schema.kind:
            case "object":
                return self._object(schema, within, depth)
            case "array":
                return self._array(schema, within, depth)
            case "boolean":
                self._made_up = True
                return self._turn % 2 == 0
            case "integer" | "number":
                self._made_up = True
                self._invented = self._invented or (schema.limits.lowest is None and schema.limits.highest is None)
                return number(schema.limits, whole=schema.kind == "integer", turn=self._turn)
        self._made_up = self._invented = True
        return text(schema.limits, self._turn)

    def _object(self, schema: Schema, within: tuple[int, ...], depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, parts in schema.properties.items():
            if name not in schema.required and (depth >= _OPTIONAL_DEPTH or self._optional <= 0):
                continue
            try:
                inner = self._schema(parts)
                wanted = name in schema.required or self._wanted(schema, made, inner, within)
                if wanted and not inner.read_only:
                    made[name] = self._value(parts, within, depth + 1)
            except UnsoundError:
                if name in schema.required:
                    raise
        for name in self._further_names(schema, made):
            made[name] = self._value(schema.additional, within, depth + 1) if schema.additional else "text"
        if not made:
            self._made_up = self._invented = True
        for one in schema.discriminators:
            allowed = self._schema(schema.properties.get(one.property, ())).values
            named = one.value(schema.names)
            if named and (allowed is None or named in [value for value, _ in allowed]):
                made[one.property] = named
        return made

    def _wanted(self, schema: Schema, made: dict[str, Any], inner: Schema, within: tuple[int, ...]) -> bool:
        """Whether a property that is not required is filled in."""
        if inner.ids & set(within):
            return False
        missing = len(schema.required.keys() - made.keys())
        if schema.most is not None and len(made) + missing >= schema.most:
            return False
        self._optional -= 1
        return True

    def _further_names(self, schema: Schema, made: dict[str, Any]) -> Iterator[str]:
        """Names that are required and not described, and further ones until there are enough."""
        yield from (name for name in schema.required if name not in made and name not in schema.properties)
        number_of = 0
        while len(made) < schema.fewest:
            if schema.closed or schema.fewest > MOST:
                raise UnsoundError(f"it asks for {schema.fewest} properties")
            number_of += 1
            if f"key{number_of}" not in made:
                yield f"key{number_of}"

    def _array(self, schema: Schema, within: tuple[int, ...], depth: int) -> list[Any]:
        if schema.fewest > MOST:
            raise UnsoundError(f"an array of {schema.fewest} elements is longer than a draft may hold")
        made = [self._value([part], within, depth + 1) for part in schema.first_items[: schema.most]]
        wanted = schema.fewest
        if not made and schema.most != 0 and not (wanted == 0 and self._schema(schema.items).ids & set(within)):
            wanted = max(wanted, 1)
        turn, self._turn = self._turn, self._turn
        try:
            while len(made) < wanted:
                items = [*schema.items, *(schema.contains if len(made) == len(schema.first_items) else [])]
                value = self._value(items, within, depth + 1)
                if not schema.unique or value not in made:
                    made.append(value)
                elif self._turn > turn + 2 * wanted:
                    raise UnsoundError(f"it asks for {wanted} elements that differ")
                self._turn += 1 if schema.unique else 0
        except UnsoundError:
            if len(made) < schema.fewest:
                raise
        finally:
            self._turn = turn
        return made


def _out_of_text(value: str, types: Sequence[str]) -> Any:
    """What a text of JSON holds, if that is of one of the types. The text itself if not."""
    try:
        held = json.loads(value)
    except (ValueError, RecursionError):
        return value
    kinds = {"object": dict, "array": list, "integer": int, "number": (int, float), "boolean": bool}
    fits = any(isinstance(held, kinds[kind]) for kind in types if kind in kinds)  # type: ignore[arg-type]
    return held if fits else value


def _unwritable(value: Any) -> str:
    """Why a value cannot be sent as JSON; empty if it can be."""
    left, nodes, size = [value], 0, 0
    while left:
        one = left.pop()
        nodes += 1
        size += len(one) if isinstance(one, str) else 1
        if nodes > _MOST_NODES or size > _LARGEST_EXAMPLE:
            return "it is larger than a draft may hold"
        left += [*one, *one.values()] if isinstance(one, dict) else one if isinstance(one, list) else []
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError):
        return "it is not a value of JSON that can be written"
    return ""
