"""The tables of all manifests and their keys, read off the types that read them: the reference is made of this."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from touchstone.failure import UsageError, nearest
from touchstone.manifest.annotation import Model, bare, is_table, keys, members, tag, whole
from touchstone.manifest.claim import ClaimsFile
from touchstone.manifest.mix import Mix
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.stack import Stack
from touchstone.manifest.type_words import in_words

FILES: dict[str, Model] = {
    "scenario.toml": Scenario,
    "stack.toml": Stack,
    "claims.toml": ClaimsFile,
    "mix.toml": Mix,
}
"""The kinds of file, in the order in which one meets them; those of claims and mixes may have any name."""


@dataclass(frozen=True)
class TablePath:
    """Where a table may stand: `loads.NAME` in scenario.toml. The top of a file has no name."""

    file: str
    name: str = ""
    many: bool = False
    """Whether it is a list of tables."""

    @property
    def written(self) -> str:
        """As its header is written."""
        if not self.name:
            return self.file
        return f"[[{self.name}]]" if self.many else f"[{self.name}]"

    def fits(self, words: list[str]) -> bool:
        """Whether a dotted name means this place; NAME stands for any."""
        own = self.name.split(".") if self.name else []
        return len(own) == len(words) and all(a in (b, "NAME") for a, b in zip(own, words, strict=True))


@dataclass(frozen=True)
class ManifestKey:
    """One key of a table."""

    name: str
    type: str
    """In words."""
    required: bool
    default: str
    """As TOML; empty if it is required, and if there is none."""
    says: str
    """The purpose; empty if undocumented."""
    leads_to: tuple[Model, ...]
    """The tables that it holds."""


@dataclass(frozen=True)
class ManifestTable:
    """A table with its own keys and all its possible paths, the main one first."""

    model: Model
    places: tuple[TablePath, ...]
    variety: str = ""
    """Which of several kinds of table it is that may stand at the same place."""

    @property
    def title(self) -> str:
        """Its first place, and its variety."""
        return f"{self.places[0].written} {self.variety}".rstrip()

    @property
    def asked(self) -> str:
        """Its name for `touchstone check --keys`."""
        return self.places[0].name or self.places[0].file

    @property
    def says(self) -> str:
        """The purpose; empty if undocumented."""
        return " ".join((self.model.__doc__ or "").split())

    @property
    def keys(self) -> list[ManifestKey]:
        """Its keys: first those that must be given, then in the order of their declaration."""
        found = [_key(name, field) for name, field in keys(self.model).items()]
        return sorted(found, key=lambda key: not key.required)


@cache
def tables() -> dict[Model, ManifestTable]:
    """All tables, each once, in the order in which one meets them."""
    places: dict[Model, list[TablePath]] = {}
    for file, model in FILES.items():
        _collect(model, TablePath(file), places)
    firsts = [found[0] for found in places.values()]
    return {
        model: ManifestTable(model, tuple(dict.fromkeys(found)), _variety(model) if firsts.count(found[0]) > 1 else "")
        for model, found in places.items()
    }


def find(asked: str) -> list[ManifestTable]:
    """The tables of a name: `scenario.toml`, `loads.NAME`, `[loads.ping]`, the end of one, or a key in one.

    Raises UsageError that names what is near.
    """
    words = [word for word in re.sub(r"[\[\]\s\"']", "", asked).split(".") if not word.isdecimal()]
    everything = list(tables().values())
    ways: tuple[Callable[[ManifestTable], bool], ...] = (
        lambda t: any(asked == p.file and not p.name for p in t.places),
        lambda t: any(p.fits(words) for p in t.places),
        lambda t: any(p.name.split(".")[-len(words) :] == words for p in t.places),
        lambda t: words[-1] in keys(t.model) and any(p.fits(words[:-1]) for p in t.places),
    )
    for way in ways:
        if found := [table for table in everything if way(table)]:
            return found
    names = list(dict.fromkeys(table.asked for table in everything))
    short = {name.replace(".NAME", ""): name for name in names}
    near = nearest(asked.replace(".NAME", ""), short)
    hint = f"did you mean {short[near]!r}? " if near else ""
    raise UsageError(f"no manifest has a table {asked!r}", fix=f"{hint}there are: {', '.join(names)}")


def see(models: Sequence[Model]) -> str:
    """Where the keys of these tables are listed, for an error about them."""
    known = list(dict.fromkeys(table for model in models if (table := tables().get(model)) is not None))
    if not known:
        return "docs/manifests.md lists the keys of all manifests"
    shown = list(dict.fromkeys(table.places[0].written for table in known))[:3]
    asked = list(dict.fromkeys(table.asked for table in known))[:3]
    commands = " and ".join(f"`touchstone check --keys {name}`" for name in asked)
    return f"see {' and '.join(shown)} in docs/manifests.md, or ask {commands}"


def _collect(model: Model, place: TablePath, into: dict[Model, list[TablePath]]) -> None:
    known = model in into
    into.setdefault(model, []).append(place)
    if known:
        return
    for name, field in keys(model).items():
        for held, below, many in _held(whole(field)):
            path = f"{place.name}.{name}{below}".removeprefix(".")
            _collect(held, TablePath(place.file, path, many), into)


def _held(annotation: Any, below: str = "", many: bool = False) -> Iterator[tuple[Model, str, bool]]:
    """The tables in an annotation, with the path to each and whether it is listed."""
    for member in members(annotation):
        kind = bare(member)
        if is_table(kind):
            yield kind, below, many
        elif get_origin(kind) is list:
            yield from _held(get_args(kind)[-1], below, many=True)
        elif get_origin(kind) is dict:
            yield from _held(get_args(kind)[-1], f"{below}.NAME")


def _variety(model: Model) -> str:
    return tag(model) or model.__name__.lower()


def _key(name: str, field: FieldInfo) -> ManifestKey:
    annotation = whole(field)
    return ManifestKey(
        name,
        in_words(annotation),
        field.is_required(),
        "" if field.is_required() else _toml(field.default),
        " ".join((field.description or "").split()),
        tuple(dict.fromkeys(model for model, _, _ in _held(annotation))),
    )


def _toml(value: Any) -> str:
    """A default as a manifest would write it. Empty for none, and for a table that is described at its place."""
    if value is None or isinstance(value, BaseModel):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return "{}" if value == {} else f"{value:g}"
