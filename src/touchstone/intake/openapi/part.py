"""A document in one file or several, and its parts: what they hold, and where the references in them lead."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from referencing import Anchor, Registry, Resource, Specification
from referencing.exceptions import NoSuchResource, Unresolvable

from touchstone.failure import UsageError
from touchstone.intake.openapi.plain import read_plain, written

_LONGEST_CHAIN = 50
"""References that lead to references."""
_MOST_FILES = 2_000


class UnsoundError(ValueError):
    """A part that is not as the specification says: what is wrong with it."""


class OpenApiDocument:
    """The files of a document. The network is never asked."""

    def __init__(self, file: Path) -> None:
        """Read the file that the user named. Raises UsageError."""
        self.file = file
        self.uri = file.resolve().as_uri()
        self.notes: list[str] = []
        self._read: dict[str, Resource[Any]] = {}
        self._unread: dict[str, str] = {}
        self._missing = ""
        self.held = self._load(file, self.uri)

    def root(self, held: Any = None) -> DocumentNode:
        """The document as a part; `held` replaces the content of the file."""
        held = self.held if held is None else held
        identified = _identified(held, self.uri)
        registry = Registry(retrieve=self._retrieve).with_resources(identified).crawl()  # type: ignore[call-arg]
        return DocumentNode(held, registry.resolver(self.uri), self)

    def missing(self) -> str:
        """Why the last file that a reference asked for is not there. Empty if that was not a file."""
        why, self._missing = self._missing, ""
        return why

    def _load(self, file: Path, uri: str) -> Any:
        held, notes = read_plain(file)
        self.notes += [f"{file.name}: {note}" for note in notes]
        self._read[uri] = _OPENAPI.create_resource(held)
        return held

    def _retrieve(self, uri: str) -> Resource[Any]:
        if uri not in self._read:
            if urlsplit(uri).scheme != "file":
                self._unread[uri] = "nothing is fetched from elsewhere: save it next to the document"
            elif len(self._read) >= _MOST_FILES:
                self._unread[uri] = f"the document has more than {_MOST_FILES} files"
            elif uri not in self._unread:
                try:
                    self._load(Path(unquote(urlsplit(uri).path)), uri)
                except UsageError as error:
                    self._unread[uri] = error.what
        if uri in self._unread:
            self._missing = self._unread[uri]
            raise NoSuchResource(uri)
        return self._read[uri]


@dataclass(frozen=True)
class DocumentNode:
    """An object, array or value of a document. What is asked of it by key follows references."""

    held: Any
    resolver: Any
    """A `referencing` resolver, whose class has no public name."""
    document: OpenApiDocument
    name: str = ""
    """The last word of the reference that led here."""

    def __bool__(self) -> bool:
        return bool(self.held)

    @property
    def keys(self) -> list[str]:
        """The keys of an object; none of anything else."""
        return [str(key) for key in self.held] if isinstance(self.held, dict) else []

    def child(self, key: str | int) -> DocumentNode:
        """What is at a key or place, references not followed."""
        held = self.held[key]
        return DocumentNode(held, _entered(self.resolver, held), self.document)

    def followed(self) -> DocumentNode:
        """The part itself, or what its reference leads to. Raises UnsoundError."""
        found = self
        for _ in range(_LONGEST_CHAIN):
            ref = found.held.get("$ref") if isinstance(found.held, dict) else None
            if not isinstance(ref, str):
                return found
            found = found.lookup(ref)
        raise UnsoundError(f"the reference {self.held['$ref']!r} leads to itself")

    def lookup(self, ref: str) -> DocumentNode:
        """What a reference leads to. Raises UnsoundError."""
        try:
            resolved = self.resolver.lookup(ref)
        except (Unresolvable, LookupError, ValueError, TypeError) as error:
            # The error's own words would hold the whole document.
            why = self.document.missing() or "nothing is there"
            raise UnsoundError(f"the reference {ref!r} cannot be followed: {why}") from error
        last = ref.rpartition("/")[2]
        name = unquote(last).replace("~1", "/").replace("~0", "~") if "#" in ref else last.partition(".")[0]
        return DocumentNode(resolved.contents, _entered(resolved.resolver, resolved.contents), self.document, name)

    def object(self, key: str) -> DocumentNode:
        """The object at a key; an empty one if there is none. Raises UnsoundError for anything else."""
        found = self._followed(key)
        if not isinstance(found.held, dict):
            raise UnsoundError(f"`{key}` is not an object")
        return found

    def array(self, key: str) -> list[DocumentNode]:
        """The parts of an array at a key, references not followed; none if there is none. Raises UnsoundError."""
        found = self._followed(key, [])
        if not isinstance(found.held, list):
            raise UnsoundError(f"`{key}` is not an array")
        return [found.child(place) for place in range(len(found.held))]

    def objects(self, key: str) -> Iterator[tuple[str, DocumentNode]]:
        """The objects within an object at a key, but for extensions. Raises UnsoundError where one is none."""
        found = self.object(key)
        for name in found.keys:
            if not name.startswith("x-"):
                yield name, found.object(name)

    def text(self, key: str) -> str:
        """The text at a key, or the value as it is written. Empty if there is none. Raises UnsoundError."""
        value = self.held.get(key)
        if isinstance(value, dict | list):
            raise UnsoundError(f"`{key}` is not text")
        if isinstance(value, str):
            # Half a surrogate pair is not text that can be written.
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if value is None:
            return ""
        return written(self.held, key) or json.dumps(value)

    def flag(self, key: str) -> bool | None:
        """A truth at a key; None if there is none."""
        value = self.held.get(key)
        return value if isinstance(value, bool) else None

    def _followed(self, key: str, empty: Any = None) -> DocumentNode:
        if not isinstance(self.held, dict) or self.held.get(key) is None:
            return DocumentNode({} if empty is None else empty, self.resolver, self.document)
        return self.child(key).followed()


def _entered(resolver: Any, held: Any) -> Any:
    """The resolver within a part, whose `$id` may be the base of its references."""
    return resolver.in_subresource(_OPENAPI.create_resource(held)) if _id_of(held) else resolver


def _id_of(held: Any) -> str | None:
    """The `$id` of an object without its fragment, if it is a URL: a fragment alone names no other base."""
    identity = held.get("$id") if isinstance(held, dict) else None
    try:
        return (urlsplit(identity)._replace(fragment="").geturl() or None) if isinstance(identity, str) else None
    except ValueError:
        return None


def _identified(held: Any, uri: str) -> Iterator[tuple[str, Resource[Any]]]:
    """What references may name: the document itself, and each object in it that has an `$id`."""
    yield uri, _OPENAPI.create_resource(held)
    for base, one in _objects_within(held, uri):
        if one is not held and _id_of(one) and base != uri:
            yield base, _WITHIN.create_resource(one)


def _objects_within(held: Any, uri: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All objects within, each once, however often it is reached. Each with the base of its references."""
    seen: set[int] = set()
    left = [(uri, held)]
    while left:
        base, one = left.pop()
        if not isinstance(one, dict | list) or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, dict):
            base = urljoin(base, _id_of(one) or "")
            yield base, one
        left += [(base, inner) for inner in (one.values() if isinstance(one, dict) else one)]


def _anchors(specification: Specification[Any], held: Any) -> Iterator[Anchor[Any]]:
    for _, one in _objects_within(held, ""):
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := one.get(key), str):
                yield Anchor(name, specification.create_resource(one))  # type: ignore[call-arg]


def _specification(name: str, anchors: Any) -> Specification[Any]:
    return Specification(  # type: ignore[call-arg]
        name=name,
        id_of=_id_of,
        subresources_of=lambda _: [],
        maybe_in_subresource=lambda segments, resolver, subresource: resolver.in_subresource(subresource),  # noqa: ARG005
        anchors_in=anchors,
    )


_OPENAPI = _specification("OpenAPI", _anchors)
"""How references work in a document of OpenAPI: any object may have an `$id` or an anchor, as schemas do."""
_WITHIN = _specification("a part of OpenAPI", lambda *_: [])
"""The same for an object within it, whose anchors are known already."""
