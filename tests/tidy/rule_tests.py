"""Every rule has a test that sees it fire, and one that sees it keep silent next to its threshold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_FIRES = re.compile(r"^(?!.*assert not ).*\bfired\(", re.MULTILINE)
_SILENT = re.compile(r"assert not |== set\(\)|not in codes|== \[\]")


def breaches(rules: Iterable[str], folder: Path) -> list[str]:
    """By the rule's module: what its tests lack."""
    found = []
    for rule in rules:
        path = folder / f"test_{rule}.py"
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if not _FIRES.search(text):
            found.append(f"{rule}: no test sees it fire")
        if not _SILENT.search(text):
            found.append(f"{rule}: no test sees it keep silent")
    return found
