"""A schema with its references and the parts of its `allOf` put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from touchstone.intake.openapi.leaves import ValueLimits, as_fraction
from touchstone.intake.openapi.part import DocumentNode, UnsoundError
from touchstone.intake.openapi.plain import written

TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_SHOWS_TYPE = {
    "object": ("properties", "additionalProperties", "patternProperties", "minProperties", "maxProperties"),
    "array": ("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"),
    "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_MOST_PARTS = 2_000


@dataclass(frozen=True)
class Choice:
    """A `oneOf` or an `anyOf`."""

    id: int
    branches: list[DocumentNode]


@dataclass(frozen=True)
class Discriminator:
    """The property that names the schema which a value is of."""

    property: str
    mapping: dict[str, str]
    """Values of the property, and the schemas that they name."""
    owner: str
    """The name of the schema that has it."""
    chooses: bool
    """Whether that schema is a choice, and no base of others."""

    def value(self, names: Sequence[str]) -> str:
        """The value for a schema reached under these names; empty if none is known."""
        at = names.index(self.owner) if self.owner in names else -1 if self.chooses else len(names)
        near = names[at + 1 :] if self.chooses else [*reversed(names[:at]), *names[at : at + 1]]
        by_name = {target.rpartition("/")[2]: value for value, target in self.mapping.items()}
        mapped = (by_name[name] for name in (*near, *names) if name in by_name)
        return next(mapped, near[0] if near else "")


@dataclass
class Schema:
    """What several schemas that all must hold say together."""

    types: list[str] | None = None
    """The types that are allowed, without null; None if any is."""
    shown: bool = False
    """Whether the types are not named, and follow from keywords that mean something for them alone."""
    nullable: bool = False
    examples: list[tuple[Any, str | None]] = field(default_factory=list)
    """Examples and the default, each with the text that was written for it if it is not text."""
    values: list[tuple[Any, str | None]] | None = None
    """Values of `enum` and `const`; None if any is allowed."""
    limits: ValueLimits = field(default_factory=ValueLimits)
    properties: dict[str, list[DocumentNode]] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    fewest: int = 0
    most: int | None = None
    """Elements of an array, or properties of an object."""
    additional: list[DocumentNode] = field(default_factory=list)
    closed: bool = False
    """Whether there are no properties but those named."""
    items: list[DocumentNode] = field(default_factory=list)
    first_items: list[DocumentNode] = field(default_factory=list)
    contains: list[DocumentNode] = field(default_factory=list)
    unique: bool = False
    choices: list[Choice] = field(default_factory=list)
    discriminators: list[Discriminator] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Names under which it was referred to, the outermost first."""
    xml: dict[str, Any] = field(default_factory=dict)
    read_only: bool = False
    write_only: bool = False
    binary: bool = False
    ids: set[int] = field(default_factory=set)
    """The identities of all objects that it is made of."""

    @property
    def kind(self) -> str:
        """The type that a value is made of: the first that is allowed; empty if any is."""
        return self.types[0] if self.types else ""


def put_together(parts: Sequence[DocumentNode]) -> Schema:
    """The schemas, and all that their references and `allOf` lead to. Raises UnsoundError if none can hold."""
    made = Schema()
    shown: list[str] = []
    left = list(reversed(parts))
    while left:
        part = left.pop()
        if part.held is True or part.held is None:
            continue
        if part.held is False:
            raise UnsoundError("the schema `false` allows no value")
        if not isinstance(part.held, dict):
            raise UnsoundError("a schema is not an object")
        if id(part.held) in made.ids:
            continue
        made.ids.add(id(part.held))
        if len(made.ids) > _MOST_PARTS:
            raise UnsoundError("a schema has too many parts")
        if part.name and part.name not in made.names:
            made.names.append(part.name)
        if isinstance(ref := part.held.get("$ref"), str):
            left.append(part.lookup(ref))
        left += reversed(part.array("allOf"))
        _take(made, part)
        shown += [kind for kind, keys in _SHOWS_TYPE.items() if any(key in part.held for key in keys)]
    if made.types is None and shown:
        made.types, made.shown = list(dict.fromkeys(shown)), True
    if made.types == [] and not made.nullable:
        raise UnsoundError("its schemas ask for types that exclude each other")
    return made


def _take(made: Schema, part: DocumentNode) -> None:
    held = part.held
    _types(made, held)
    _values(made, part)
    _limits(made.limits, held)
    _sizes(made, held)
    properties = part.object("properties")
    for name in properties.keys:
        made.properties.setdefault(name, []).append(properties.child(name))
    if isinstance(names := held.get("required"), list):
        made.required |= dict.fromkeys(name for name in names if isinstance(name, str))
    if held.get("additionalProperties") is False:
        made.closed = True
    elif isinstance(held.get("additionalProperties"), dict):
        made.additional.append(part.child("additionalProperties"))
    if isinstance(held.get("items"), list):
        made.first_items = made.first_items or part.array("items")
    elif held.get("items") is not None:
        made.items.append(part.child("items"))
    made.first_items = made.first_items or part.array("prefixItems")
    if held.get("contains") is not None:
        made.contains.append(part.child("contains"))
    made.unique = made.unique or held.get("uniqueItems") is True
    for key in ("oneOf", "anyOf"):
        if several := part.array(key):
            made.choices.append(Choice(id(held[key]), several))
    stated = held.get("discriminator")
    stated = {"propertyName": stated} if isinstance(stated, str) else stated  # as Swagger 2.0 writes it
    if isinstance(stated, dict) and isinstance(stated.get("propertyName"), str):
        _discriminator(made, part, stated)
    if isinstance(held.get("xml"), dict):
        made.xml = held["xml"] | made.xml
    made.read_only = made.read_only or held.get("readOnly") is True
    made.write_only = made.write_only or held.get("writeOnly") is True
    # A file: the first by OpenAPI 3.0, the others by 3.1, where what is encoded is a text.
    made.binary = (
        made.binary
        or held.get("format") == "binary"
        or ("contentMediaType" in held and "contentEncoding" not in held and held.get("type") != "object")
    )


def _discriminator(made: Schema, part: DocumentNode, stated: dict[str, Any]) -> None:
    mapping = stated.get("mapping")
    named = {key: to for key, to in mapping.items() if isinstance(to, str)} if isinstance(mapping, dict) else {}
    chooses = bool(part.held.get("oneOf") or part.held.get("anyOf"))
    made.discriminators.append(Discriminator(stated["propertyName"], named, part.name, chooses))
    # A base by itself: what is meant is one of those that have it as a base.
    if named and not chooses and made.names == [part.name]:
        refs = [to if set(to) & set("#/.") else f"#/components/schemas/{to}" for to in named.values()]
        made.choices.append(Choice(id(mapping), [found for ref in refs if (found := _lookup(part, ref))]))


def _lookup(part: DocumentNode, ref: str) -> DocumentNode | None:
    try:
        return part.lookup(ref)
    except UnsoundError:
        return None


def _types(made: Schema, held: dict[str, Any]) -> None:
    stated = held.get("type")
    if stated is None:
        named = None
    else:
        several = stated if isinstance(stated, list) else [stated]
        named = [one for one in several if isinstance(one, str) and one in TYPES]
    if held.get("nullable") is True or held.get("x-nullable") is True or "null" in (named or ()):
        made.nullable = True
    if not named:
        return
    named = [one for one in named if one != "null"]
    if made.types is None:
        made.types = named
    else:
        made.types = list(dict.fromkeys(both for one in made.types for other in named if (both := _both(one, other))))


def _both(one: str, other: str) -> str | None:
    if one == other:
        return one
    return "integer" if {one, other} == {"integer", "number"} else None


def _values(made: Schema, part: DocumentNode) -> None:
    held = part.held
    if "example" in held:
        made.examples.append((held["example"], written(held, "example")))
    several = held.get("examples")
    if isinstance(several, list):
        made.examples += [(one, written(several, place)) for place, one in enumerate(several)]
    if "default" in held:
        made.examples.append((held["default"], written(held, "default")))
    allowed = held.get("enum")
    if isinstance(allowed, list):
        values = [(one, written(allowed, place)) for place, one in enumerate(allowed)]
        made.values = values if made.values is None else [one for one in made.values if one in values]
    if "const" in held:
        made.values = [(held["const"], written(held, "const"))]


def _limits(limits: ValueLimits, held: dict[str, Any]) -> None:
    low, high = held.get("exclusiveMinimum"), held.get("exclusiveMaximum")
    # OpenAPI 3.0 says by a truth what 3.1 says by a number.
    limits.at_least(held.get("minimum"), excluded=low is True)
    limits.at_most(held.get("maximum"), excluded=high is True)
    limits.at_least(low, excluded=True)
    limits.at_most(high, excluded=True)
    if (step := as_fraction(held.get("multipleOf"))) and step > 0:
        limits.multiple_of = _common(step, limits.multiple_of)
    limits.shortest = max(limits.shortest, _count(held.get("minLength")) or 0)
    limits.longest = _smaller(limits.longest, _count(held.get("maxLength")))
    if isinstance(pattern := held.get("pattern"), str):
        limits.patterns.append(pattern)
    if isinstance(stated := held.get("format"), str):
        limits.format = stated
    if held.get("contentEncoding") == "base64":
        limits.format = "byte"


def _common(step: Any, other: Any) -> Any:
    """The least common multiple of two fractions."""
    if other is None:
        return step
    scale = step.denominator * other.denominator
    first, second = int(step * scale), int(other * scale)
    product, left, right = first * second, first, second
    while right:
        left, right = right, left % right
    return type(step)(product // left, scale)


def _sizes(made: Schema, held: dict[str, Any]) -> None:
    for low, high in (("minItems", "maxItems"), ("minProperties", "maxProperties")):
        made.fewest = max(made.fewest, _count(held.get(low)) or 0)
        made.most = _smaller(made.most, _count(held.get(high)))


def _count(value: Any) -> int | None:
    number = as_fraction(value)
    return None if number is None or number < 0 else int(number)


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((value for value in (one, other) if value is not None), default=None)
