"""By which prefixes a contender's own functions are known among those of its libraries."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from touchstone.manifest.sources import source_files
from touchstone.manifest.stack import Stack
from touchstone.phase.profile.naming_runtime import OWN

_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)", re.MULTILINE)
_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_SCRIPTS = {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".py"}
_TABLES = {"go": "go", "rust": "rust", "c++": "cpp", "c": "cpp"}
OF_THE_JVM = frozenset({"java", "kotlin", "scala"})
"""Languages whose programs usually run on the JVM."""
NATIVE_IMAGE = "native-image"
"""The table of a program that was written for the JVM and runs without one."""


def tables_of(stack: Stack, *, jvm: bool) -> list[str]:
    """The tables of patterns that suit a stack's frames. What runs on the JVM has the JVM's whatever its language."""
    language = stack.language.lower()
    if jvm:
        return ["jvm"]
    if language in OF_THE_JVM:
        return [NATIVE_IMAGE, "jvm"]
    return [_TABLES[language]] if language in _TABLES else []


def own_prefixes(stack: Stack) -> list[str]:
    """How the names of its own functions begin: packages, modules and crates that its sources declare."""
    return sorted({prefix for path, _ in source_files(stack) for prefix in _of(path)})


def _of(path: Path) -> Iterator[str]:
    if path.suffix in {".kt", ".java", ".scala"}:
        yield from (f"{name}." for name in _PACKAGE.findall(_text(path)))
    elif path.suffix in _SCRIPTS:
        yield OWN
    elif path.suffix == ".go":
        yield "main."
    elif path.name == "go.mod":
        yield from (f"{name}" for name in _MODULE.findall(_text(path)))
    elif path.name == "Cargo.toml":
        for prefix in ("", "<", "<&"):
            yield f"{prefix}{_crate(path)}::"


def _crate(path: Path) -> str:
    document = tomllib.loads(_text(path))
    return str(document.get("package", {}).get("name", "main")).replace("-", "_")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
