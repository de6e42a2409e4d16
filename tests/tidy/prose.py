"""What prose names exists: links, files, commands, flags, figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from touchstone.cli.commands import COMMANDS
from touchstone.judge.claims.quantities import QUANTITIES

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_CODE = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(r"^(?:src|docs|engine|tests|benchmarks|mote|claims|scenarios)/[\w./-]+$")
_COMMAND = re.compile(r"(?:^|&& |; )(touchstone|make) ([a-z][a-z-]*)\b(?![:./])")
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]+)")
_FIGURE = re.compile(r"^(?:boot|hold|drain|floor|probe|build|footprint|latency|rss|pss|anon|cgroup)_[a-z0-9_]+$")
_FOREIGN = {
    "add-architecture",
    "datadir",
    "dir",
    "extra",
    "generate",
    "generate-hashes",
    "head",
    "include-dashboard",
    "initialize-insecure",
    "install-completion",
    "labels",
    "max-worker-port",
    "min-worker-port",
    "no-emit-index-url",
    "no-header",
    "node-ip-address",
    "omit",
    "python-version",
    "rm",
    "save",
}
"""Flags of other tools that pages tell a reader to give."""
_SOURCES = ("*.py", "*.rs", "*.toml", "*.sh", "*.yml", "Makefile", "*.txt", "*.java", "*.cpp", "*.c")


def pages(root: Path) -> list[Path]:
    """All pages that a person reads; generated ones are checked by their generators."""
    found = [*root.glob("*.md"), *(root / "docs").glob("*.md"), *(root / "scenarios").glob("*/README.md")]
    return sorted({*found, *(root / "benchmarks").glob("*/README.md")})


def breaches(root: Path, paths: Iterable[Path]) -> list[str]:
    """Names in these pages behind which there is nothing."""
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    known_flags = flags_of(root)
    found = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        found += [f"{path}: {complaint}" for complaint in _names(root, path, text, targets)]
        found += [f"{path}: there is no flag --{flag}" for flag in sorted(set(_FLAG.findall(text)) - known_flags)]
    return found


def _names(root: Path, path: Path, text: str, targets: set[str]) -> Iterator[str]:
    for link in _LINK.findall(text):
        if "://" not in link and not link.startswith("mailto:") and not (path.parent / link).exists():
            yield f"the link to {link} leads nowhere"
    for code in _CODE.findall(text):
        for tool, word in _COMMAND.findall(code):
            if word not in (COMMANDS if tool == "touchstone" else targets):
                yield f"there is no command `{tool} {word}`"
        if _FILE.match(code) and not any(root.glob(code.rstrip("/"))):
            yield f"there is no file {code}"
        if _FIGURE.match(code) and code not in QUANTITIES and not _is_word_of(root, code):
            yield f"there is no figure {code}"


@cache
def _source_text(root: Path) -> str:
    folders = [root / name for name in ("src", "engine", "benchmarks", "scenarios", "mote", "claims")]
    files = [path for folder in folders for pattern in _SOURCES for path in folder.rglob(pattern)]
    files += [root / "Makefile", root / "pyproject.toml"]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files if path.is_file())


def _is_word_of(root: Path, word: str) -> bool:
    """Whether it is a name of the sources: a field of a record, a key of a manifest."""
    return re.search(rf"\b{word}\b", _source_text(root)) is not None


@cache
def flags_of(root: Path) -> set[str]:
    """Flags that the sources name, and parameters and fields of options that become flags."""
    source = _source_text(root)
    fields = re.findall(r"^\s+(?:pub )?([a-z_]+): ", source, re.MULTILINE)
    return set(_FLAG.findall(source)) | {name.strip("_").replace("_", "-") for name in fields} | _FOREIGN
