"""Limits of files and functions, words that must not stay, and modules that nothing uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from tests.tidy.modules import PACKAGE, modules

FILE_LINES, FUNCTION_LINES = 400, 70
_GENERATED = Path(PACKAGE) / "engine" / "protocol.py"
"""As long as what it is made from."""
_LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|HACK|hack)\b")
_FOUND_BY_WALKING = (f"{PACKAGE}.cli.", f"{PACKAGE}.toolchain.known.")
"""Rooms whose modules are found by their place."""
_ENTRIES = (
    "__main__",
    "findings_page",
    "report.schemas",
    "schema.document",
    "figures_page",
    "cli.reference",
    "driver.main",
    "self_test",
)
"""Modules that are run, not imported."""


def long_files(paths: Iterable[Path]) -> list[str]:
    """Files above the limit of lines."""
    counted = [
        (path, len(path.read_text(encoding="utf-8").splitlines())) for path in paths if not path.match(str(_GENERATED))
    ]
    return [f"{path}: {lines} lines, above {FILE_LINES}" for path, lines in counted if lines > FILE_LINES]


def long_functions(paths: Iterable[Path]) -> list[str]:
    """Functions above the limit; a signature of a command is its documentation and does not count."""
    found = []
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.body[0].lineno + 1
                if lines > FUNCTION_LINES:
                    found.append(f"{path}: {node.name} has {lines} lines, above {FUNCTION_LINES}")
    return found


def leftovers(paths: Iterable[Path]) -> list[str]:
    """Words of work that was not finished."""
    return [
        f"{path}:{number}: {match[0]}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := _LEFTOVER.search(line))
    ]


def unused_modules(source: Path) -> list[str]:
    """Modules that no other imports."""
    all_modules = modules(source)
    imported = {name for module in all_modules for name in module.imports() if name != module.name}
    return [
        module.name
        for module in all_modules
        if module.name not in imported
        and module.path.name != "__init__.py"
        and not module.name.startswith(_FOUND_BY_WALKING)
        and not module.name.endswith(_ENTRIES)
    ]
