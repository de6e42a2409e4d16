"""Twenty sentences at random, for a reader to judge: `python -m tests.tidy.sample [SEED [FOLDER]]`.

A third each from pages, docstrings and messages, so that no kind hides behind another.
"""

from __future__ import annotations

import ast
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

COUNT, LEAST_WORDS = 20, 5
_GENERATED = ("engine-protocol.md", "commands.md", "manifests.md", "figures.md")
"""Pages whose sentences are docstrings."""
_NO_SENTENCE = re.compile(r"^```.*?^```|^(?:    |\||#|<!--)[^\n]*$", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n\s*(?=[*#|])")


def draw(root: Path, seed: int) -> list[str]:
    """Twenty sentences with their kinds, the same for the same seed and tree."""
    dice, found = random.Random(seed), sentences(root)
    kinds = [kind for kind in found for _ in range(1 + COUNT // len(found))][:COUNT]
    return [f"{kind}: {dice.choice(found[kind])}" for kind in kinds]


def sentences(root: Path) -> dict[str, list[str]]:
    """By kind, the sentences of at least five words."""
    pages = [path for path in sorted((root / "docs").glob("*.md")) if path.name not in _GENERATED]
    found: dict[str, list[str]] = {"page": [], "docstring": [], "message": []}
    for path in (root / "README.md", *pages):
        found["page"] += _split(_NO_SENTENCE.sub("", path.read_text(encoding="utf-8")))
    for path in sorted((root / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                kind = "docstring" if id(node) in documented else "message"
                found[kind] += _split(node.value)
    return found


def _split(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        words = " ".join(sentence.split()).strip("*#|- ")
        if len(words.split()) >= LEAST_WORDS and "|" not in words:
            yield words


if __name__ == "__main__":
    words = [*sys.argv[1:], "1", "."][:2] if len(sys.argv) != 2 else [sys.argv[1], "."]
    print("\n".join(draw(Path(words[1]), int(words[0]))))
