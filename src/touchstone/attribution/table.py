"""Reads the tables of patterns and sorts stacks by them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from touchstone.attribution.category import OF_THE_CALLER, ON_BEHALF, Category
from touchstone.record.evidence.profile import KERNEL

ALWAYS = ("libc",)
"""Tables that go behind those of every language."""
_KERNEL_TABLE = "kernel"


@dataclass(frozen=True)
class CategoryPattern:
    """One line of a table: frames whose name has the pattern belong to the category."""

    category: str
    pattern: re.Pattern[str]
    example: str
    anywhere: bool = False
    """True if one such frame decides, wherever it stands in the stack: a collector's thread, a compiler's."""


@cache
def table(name: str) -> tuple[CategoryPattern, ...]:
    """The rows of one table, in their order. Raises KeyError if a row names no category."""
    text = files("touchstone.attribution").joinpath("tables", f"{name}.toml").read_text(encoding="utf-8")
    known = {category.name: str(category) for category in Category} | {"CALLER": OF_THE_CALLER}
    return tuple(_row(entry, known) for entry in tomllib.loads(text)["row"])


def table_names() -> list[str]:
    """All tables that there are."""
    folder = files("touchstone.attribution").joinpath("tables")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def _row(entry: dict[str, Any], known: dict[str, str]) -> CategoryPattern:
    category = known[entry["category"]]
    return CategoryPattern(category, re.compile(entry["pattern"]), entry["example"], bool(entry.get("anywhere", False)))


@dataclass(frozen=True)
class StackCategory:
    """What a stack's time is spent for."""

    category: Category
    owner: str
    """The innermost function that works for itself and not on behalf of others: whose time it is. Where there is none,
    the innermost that a table knows."""


@dataclass
class Attribution:
    """Sorts stacks by the tables of one contender. `application` are prefixes of its own functions' names."""

    tables: Sequence[str]
    application: Sequence[str] = ()
    _seen: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = dict.fromkeys([*(name for name in self.tables if name in table_names()), *ALWAYS])
        rows = [row for name in names for row in table(name)]
        self._rows = [row for row in rows if not row.anywhere]
        self._deciding = [row for row in rows if row.anywhere]
        self._kernel = table(_KERNEL_TABLE)

    def place(self, stack: Sequence[str]) -> StackCategory:
        """Where a stack belongs. Its first entry is the kind of its thread, its last the innermost frame."""
        user = [frame for frame in stack[1:] if not frame.endswith(KERNEL)]
        owner = self._owner(user) or (user[-1] if user else stack[0])
        for row in self._deciding:
            if any(row.pattern.search(frame) for frame in (stack[0], *user)):
                return StackCategory(Category(row.category), owner)
        if stack[-1].endswith(KERNEL):
            return StackCategory(self._of_kernel(stack), owner)
        for frame in reversed(user):
            found = self.category(frame)
            if found is not None and found != OF_THE_CALLER:
                return StackCategory(Category(found), owner)
        known = any(self.category(frame) is not None for frame in user)
        return StackCategory(Category.LIBRARY if known else Category.UNMATCHED, owner)

    def _owner(self, user: Sequence[str]) -> str | None:
        behalf: str | None = None
        for frame in reversed(user):
            found = self.category(frame)
            if found in (None, OF_THE_CALLER):
                continue
            if found not in ON_BEHALF:
                return frame
            behalf = behalf or frame
        return behalf

    def _of_kernel(self, stack: Sequence[str]) -> Category:
        for frame in reversed(stack):
            if not frame.endswith(KERNEL):
                break
            name = frame.removesuffix(KERNEL)
            for row in self._kernel:
                if row.pattern.search(name):
                    if row.category == OF_THE_CALLER:
                        break
                    return Category(row.category)
        return Category.KERNEL_OTHER

    def category(self, frame: str) -> str | None:
        """The category of one frame outside the kernel, or that it is of its caller. None if no row has it."""
        if frame not in self._seen:
            self._seen[frame] = self._look_up(frame)
        return self._seen[frame]

    def _look_up(self, frame: str) -> str | None:
        if any(frame.startswith(prefix) for prefix in self.application):
            return Category.APPLICATION
        return next((row.category for row in self._rows if row.pattern.search(frame)), None)
