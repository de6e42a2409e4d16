"""Versions from Poetry's lock file for a project's packages and their dependencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from touchstone.intake.service.reading import read_toml

LOCK = "poetry.lock"
_Package = Mapping[str, Any]


def pinned(service: Path, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """These requirements with the lock file's versions, and the packages that they depend on.

    Who has asked for a package is found by following the dependencies: lock files before version 2.1 do not say which
    group it belongs to. What is not in the lock file stays as it is. Raises UsageError if it cannot be read.
    """
    locked = _locked(service / LOCK)
    asked = [_parsed(one) for one in wanted]
    reached = _reached(locked, [one for one in asked if one])
    named = {canonicalize_name(one.name) for one in asked if one}
    direct = [_with_version(one, text, locked) for one, text in zip(asked, wanted, strict=True)]
    return direct, [_words(locked[name]) for name in reached if name not in named]


def _locked(file: Path) -> Mapping[str, _Package]:
    """Locked packages by name, without those of other systems, local folders or several versions."""
    held = read_toml(file).get("package", []) if file.is_file() else []
    here = [one for one in held if _applies(_marker(one)) and _kind(one) not in ("directory", "file")]
    names = [canonicalize_name(str(one["name"])) for one in here]
    return {name: one for name, one in zip(names, here, strict=True) if names.count(name) == 1}


def _reached(locked: Mapping[str, _Package], asked: Sequence[Requirement]) -> Sequence[str]:
    """Names of the requested packages and their dependencies, following the requested extras."""
    todo = [(canonicalize_name(one.name), frozenset(one.extras)) for one in asked if _applies(str(one.marker or ""))]
    for name, extras in todo:
        for other, stated in locked.get(name, {}).get("dependencies", {}).items():
            for one in stated if isinstance(stated, list) else [stated]:
                edge = one if isinstance(one, dict) else {}
                further = (canonicalize_name(other), frozenset(edge.get("extras", ())))
                if further not in todo and _applies(edge.get("markers", ""), *extras):
                    todo.append(further)
    return [name for name in dict.fromkeys(name for name, _ in todo) if name in locked]


def _with_version(asked: Requirement | None, text: str, locked: Mapping[str, _Package]) -> str:
    if asked is None or asked.url or (found := locked.get(canonicalize_name(asked.name))) is None or _kind(found):
        return text
    asked.specifier = SpecifierSet(f"=={found['version']}")
    return str(asked)


def _words(package: _Package) -> str:
    source = package.get("source", {})
    if _kind(package) == "git":
        return f"{package['name']} @ git+{source['url']}@{source['resolved_reference']}"
    return f"{package['name']} @ {source['url']}" if _kind(package) else f"{package['name']}=={package['version']}"


def _kind(package: _Package) -> str:
    """The kind of a package's source; empty for an index."""
    kind = str(package.get("source", {}).get("type", ""))
    return "" if kind == "legacy" else kind


def _marker(package: _Package) -> str:
    stated = package.get("markers", "")
    return str(stated.get("main", "")) if isinstance(stated, dict) else str(stated)


def _applies(marker: str, *extras: str) -> bool:
    """Whether it is for this system, with one of these extras or without any."""
    try:
        return not marker or any(Marker(marker).evaluate({"extra": one}) for one in ("", *extras))
    except InvalidMarker:
        return True


def _parsed(text: str) -> Requirement | None:
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None
