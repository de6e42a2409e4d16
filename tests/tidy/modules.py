"""The modules of the package as a graph: who imports whom."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "touchstone"


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    """With dots, below the package; a package's own file has the package's name."""
    path: Path
    tree: ast.Module

    @property
    def room(self) -> str:
        """The folder directly below the package; empty for the package's own files."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 2 or (self.path.name == "__init__.py" and len(parts) > 1) else ""

    def imports(self) -> Iterator[str]:
        """Names of the package that it imports, also within functions; `from a import b` gives both a and a.b."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if _ours(alias.name))
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level and _ours(node.module):
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(source: Path) -> list[Module]:
    """All modules below `source`, which holds the package's folder."""
    found = []
    for path in sorted((source / PACKAGE).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Module(name, path, ast.parse(path.read_text(encoding="utf-8"))))
    return found


def _ours(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] == PACKAGE
