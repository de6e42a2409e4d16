"""Who may import whom: the table in docs/architecture.md, held against the imports."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.tidy.modules import PACKAGE, Module, modules

_ROW = re.compile(r"^\| `(\w+)/` \|.*\| ([^|]+) \|$", re.MULTILINE)


def allowed(architecture: str) -> dict[str, set[str]]:
    """By room, the rooms that it may import: as the first table of the page says."""
    table = architecture.split("## The rooms of `engine/`", maxsplit=1)[0]
    rows = dict(_ROW.findall(table))
    found = {}
    for room, words in rows.items():
        named = set(re.findall(r"`(\w+)`", words))
        everything = words.startswith("everything")
        found[room] = (set(rows) - named if everything else named) | {room}
    return found


def breaches(source: Path, architecture: str) -> list[str]:
    """Imports that the map does not allow, rooms that it lacks or invents, and rooms that import each other."""
    map_ = allowed(architecture)
    all_modules = modules(source)
    rooms = {module.room for module in all_modules} - {""}
    found = [f"the map has no room {room}" for room in sorted(rooms - set(map_))]
    found += [f"the map names {room}, and there is no such room" for room in sorted(set(map_) - rooms)]
    edges: dict[str, dict[str, str]] = defaultdict(dict)
    for module in all_modules:
        for target in _rooms_of(module, rooms):
            edges[module.room].setdefault(target, module.name)
            if module.room and target not in map_.get(module.room, {target}):
                found.append(f"{module.name} imports {target}, which the map does not allow to {module.room}")
    return found + list(_cycles(edges))


def _rooms_of(module: Module, rooms: set[str]) -> set[str]:
    targets = {name.split(".")[1] for name in module.imports() if name.count(".") and name.startswith(PACKAGE)}
    return (targets & rooms) - {module.room}


def _cycles(edges: dict[str, dict[str, str]]) -> Iterator[str]:
    """Each ring of rooms once, with a module for each of its steps."""
    seen: set[frozenset[str]] = set()

    def walk(room: str, path: list[str]) -> Iterator[str]:
        for target in edges.get(room, {}):
            if target == path[0] and frozenset(path) not in seen:
                seen.add(frozenset(path))
                steps = [edges[a][b] for a, b in zip(path, [*path[1:], path[0]], strict=True)]
                yield f"rooms in a ring: {' -> '.join([*path, path[0]])}; see {', '.join(steps)}"
            elif target not in path and target > path[0]:
                yield from walk(target, [*path, target])

    for room in sorted(edges):
        if room:
            yield from walk(room, [room])
