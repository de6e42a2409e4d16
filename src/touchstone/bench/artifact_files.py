"""What a stack ships: the files that the words of `artifacts` stand for, and their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

_MAGIC = frozenset("*?[")
_BYTECODE = "__pycache__"
"""Python writes it at the first start; whether an installer has written it before is a matter of the installer."""


def artifact_paths(work: Path, patterns: Iterable[str]) -> tuple[Path, ...]:
    """The files and folders below `work` that patterns stand for, each once. A plain name whether it is there or not.

    `dist/**` and `dist` are both the whole folder.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        plain = pattern.removesuffix("/**")
        if _MAGIC.isdisjoint(plain) or (work / plain).exists():
            found[work / plain] = None
        else:
            found |= dict.fromkeys(sorted(work.glob(plain)))
    return tuple(path for path in found if not any(parent in found for parent in path.parents))


def artifact_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Every file and symbolic link of artifacts, in a settled order. Caches of bytecode are not part of them."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            members = (p for p in sorted(path.rglob("*")) if p.is_symlink() or p.is_file())
            yield from (member for member in members if _BYTECODE not in member.parts)
        elif path.is_symlink() or path.is_file():
            yield path


def artifact_bytes(paths: Iterable[Path]) -> int:
    """The bytes of artifacts. A symbolic link counts by itself, without its target."""
    return sum(path.lstat().st_size for path in artifact_files(paths))
