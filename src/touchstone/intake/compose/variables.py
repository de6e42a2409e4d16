"""Variables of Compose files: interpolation as the Compose specification has it, and the files that set variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR = re.compile(r":?[-?+]")
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*(?:[=:][ \t]*|$)")
_COMMENT = re.compile(r"\s+#.*")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_DEEPEST = 20
"""Defaults within defaults."""


class Variables:
    """Values by name, and the names that a file asks for in vain."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.unset: dict[str, None] = {}
        self._done: dict[int, Any] = {}

    def filled(self, held: Any) -> Any:
        """The data with variables filled in in every text; keys are left as they are. Raises ValueError."""
        if isinstance(held, str):
            if "\0" in held:
                raise ValueError(f"{held!r}: no path, variable or word of a command can have a NUL character")
            return self.text(held)
        if not isinstance(held, dict | list):
            return held
        # What an anchor names stands at several places: it is filled in once.
        if id(held) not in self._done:
            self._done[id(held)] = (
                {key: self.filled(one) for key, one in held.items()}
                if isinstance(held, dict)
                else [self.filled(one) for one in held]
            )
        return self._done[id(held)]

    def text(self, held: str, depth: int = 0) -> str:
        """A text with `$NAME`, `${NAME}` and `${NAME:-default}` filled in; `$$` is a dollar. Raises ValueError."""
        if depth > _DEEPEST:
            raise ValueError("defaults of variables are nested too deep")
        found, at = "", 0
        while (dollar := held.find("$", at)) >= 0:
            found += held[at:dollar]
            after = held[dollar + 1 : dollar + 2]
            if after == "$":
                found, at = found + "$", dollar + 2
            elif after == "{":
                end = _closing(held, dollar + 2)
                found += self._braced(held[dollar + 2 : end], depth)
                at = end + 1
            elif name := _NAME.match(held, dollar + 1):
                found, at = found + self._plain(name[0]), name.end()
            else:
                raise ValueError(f"{held!r}: a dollar stands before no name; $$ is a dollar")
        return found + held[at:]

    def _plain(self, name: str) -> str:
        if name not in self.values:
            self.unset[name] = None
        return self.values.get(name, "")

    def _braced(self, inside: str, depth: int) -> str:
        name = _NAME.match(inside)
        rest = inside[name.end() :] if name else inside
        operator = _OPERATOR.match(rest)
        if name is None or (rest and operator is None):
            raise ValueError(f"${{{inside}}} is not a variable")
        if operator is None:
            return self._plain(name[0])
        other = rest[operator.end() :]
        value = self.values.get(name[0])
        there = bool(value) if operator[0].startswith(":") else value is not None
        match operator[0][-1]:
            case "+":
                return self.text(other, depth + 1) if there else ""
            case "-":
                return value or "" if there else self.text(other, depth + 1)
        if there:
            return value or ""
        raise ValueError(f"the variable {name[0]} must be set: {self.text(other, depth + 1) or 'it is required'}")


def _closing(held: str, at: int) -> int:
    """Where the brace closes that was opened before `at`. Raises ValueError."""
    open_braces = 1
    while at < len(held):
        if held.startswith("${", at):
            open_braces += 1
            at += 1
        elif held[at] == "}":
            open_braces -= 1
            if not open_braces:
                return at
        at += 1
    raise ValueError(f"{held!r}: a brace is not closed")


def read_env(text: str, outside: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment file; values may use earlier ones, and those from outside. Raises ValueError.

    A name alone takes its value from outside.
    """
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].rstrip("\r")
        if not line.strip() or line.lstrip().startswith("#"):
            at = end + 1
            continue
        named = _LINE.match(line)
        if named is None:
            raise ValueError(f"{line.strip()[:40]!r} sets no variable")
        fill = Variables({**found, **outside}).text
        if named.end() == len(line) and not re.search(r"[=:]\s*$", line):
            if named[1] in outside:
                found[named[1]] = outside[named[1]]
            at = end + 1
            continue
        value, at = _value(text, at + named.end(), end, fill)
        found[named[1]] = value
    return found


def _value(text: str, at: int, end: int, fill: Callable[[str], str]) -> tuple[str, int]:
    """The value that begins at `at`, and where the next line begins."""
    quote = text[at : at + 1]
    if quote not in ("'", '"') or at >= end:
        return fill(_COMMENT.sub("", text[at:end].rstrip("\r")).strip()), end + 1
    close = at + 1
    while close < len(text) and text[close] != quote:
        close += 2 if text[close] == "\\" and quote == '"' else 1
    if close >= len(text):
        raise ValueError(f"a quote is not closed: {text[at:end][:20]!r}")
    following = text.find("\n", close)
    inside = text[at + 1 : close]
    if quote == '"':
        inside = fill(re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[0] if one[1] == "$" else one[1]), inside))
    return inside, len(text) if following < 0 else following + 1
