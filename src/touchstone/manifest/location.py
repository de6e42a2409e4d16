"""Where a key stands in the text of a manifest: TOML's own reader does not tell."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")

Key = Sequence[str | int]


def line_of(text: str, key: Key) -> int | None:
    """The line, from 1, of a key or its nearest enclosing thing. None if nothing is found."""
    start, end, rest = _table(text, key)
    lines = text.splitlines()
    best = start
    at = max(start or 0, 0)
    for position, part in enumerate(rest):
        if isinstance(part, int):
            at, best = _nth_element(lines, at, end, part, best)
            continue
        pattern = re.compile(rf"""(?:^|[\s{{,.])["']?{re.escape(part)}["']?\s*(?:=|\.)""")
        begin = at - 1 if position and at else at
        found = next((n for n in range(begin, end) if pattern.search(lines[n])), None)
        if found is None:
            break
        at = best = found + 1
    return best or None


def _table(text: str, key: Key) -> tuple[int, int, list[str | int]]:
    """The table that holds the key: the line of its header (0 for the top), the line behind its end, what is left."""
    lines = text.splitlines()
    top: tuple[int, list[str | int]] = (0, [])
    headers = [top, *_headers(lines)]
    best, length = 0, 0
    for index, (_, path) in enumerate(headers):
        if len(path) >= length and list(key[: len(path)]) == path:
            best, length = index, len(path)
    line = headers[best][0]
    end = headers[best + 1][0] - 1 if best + 1 < len(headers) else len(lines)
    return line, end, list(key[length:])


def _headers(lines: Sequence[str]) -> list[tuple[int, list[str | int]]]:
    found: list[tuple[int, list[str | int]]] = []
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(lines, 1):
        match = _HEADER.match(line)
        if match is None or "=" in line.partition("#")[0]:
            continue
        names = tuple(part.strip().strip("\"'") for part in match[2].split("."))
        if match[1] == "[[":
            counts[names] = counts.get(names, -1) + 1
        path: list[str | int] = []
        for depth, name in enumerate(names, 1):
            path.append(name)
            if names[:depth] in counts:
                path.append(counts[names[:depth]])
        found.append((number, path))
    return found


def _nth_element(lines: Sequence[str], at: int, end: int, index: int, best: int) -> tuple[int, int]:
    """The line of an array element that starts a line, else that of the array."""
    starts = [n + 1 for n in range(at, end) if re.match(r"^\s*[{\[]", lines[n])]
    if at and re.search(r"=\s*\[\s*[{\[]", lines[at - 1]):
        return at, at
    return (starts[index], starts[index]) if index < len(starts) else (at, best)
