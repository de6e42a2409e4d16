"""The first sentence of a docstring is short: a reader who skims reads that one alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

MOST_WORDS = 16
_END = re.compile(r"(?<!e\.g)(?<!i\.e)[.!?:](?=\s|$)|\n\s*\n")
_CODE = re.compile(r"`[^`\n]*`")
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def breaches(paths: Iterable[Path]) -> list[str]:
    """Docstrings whose first sentence has more than `MOST_WORDS` words, as `path:line: words in sentence`."""
    return [f"{path}:{line}: {words} words" for path in paths for line, words in _long(path)]


def first_sentence(docstring: str) -> str:
    """The first sentence; a colon ends it, and code in backquotes counts as one word."""
    return _END.split(_CODE.sub("`code`", docstring.strip()), maxsplit=1)[0]


def _long(path: Path) -> Iterator[tuple[int, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, _Documented) and (docstring := ast.get_docstring(node)):
            words = len(first_sentence(docstring).split())
            if words > MOST_WORDS:
                yield getattr(node, "lineno", 1), words
