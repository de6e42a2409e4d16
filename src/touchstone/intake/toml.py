"""Values written as TOML, for files that a person reads and edits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def value(held: Any) -> str:
    """A text, number, truth, list or table, within one line."""
    match held:
        case bool():
            return str(held).lower()
        case str():
            return text(held)
        case Mapping():
            return table(held)
        case list() | tuple():
            return f"[{', '.join(map(value, held))}]"
    return str(held)


def table(values: Mapping[str, Any]) -> str:
    """An inline table."""
    pairs = (f"{_key(name)} = {value(held)}" for name, held in values.items())
    return f"{{ {', '.join(pairs)} }}"


def text(held: str) -> str:
    """A string: as it is between single quotes where it can, else with JSON's escapes, which are TOML's, too."""
    if not re.search(r"['\x00-\x1f\x7f]", held) and re.search(r'["\\]', held):
        return f"'{held}'"
    return json.dumps(held, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else text(name)
