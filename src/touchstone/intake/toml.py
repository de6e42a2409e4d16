"""Values written as TOML, for files that a person reads and edits."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

_WIDTH = 118


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
    pairs = (f"{key(name)} = {value(held)}" for name, held in values.items())
    return f"{{ {', '.join(pairs)} }}"


def text(held: str) -> str:
    """A string: as it is between single quotes where it can, else with JSON's escapes, which are TOML's, too."""
    if not re.search(r"['\x00-\x1f\x7f]", held) and re.search(r'["\\]', held):
        return f"'{held}'"
    return json.dumps(held, ensure_ascii=False).replace("\x7f", "\\u007f")


def comment(words: str) -> Iterator[str]:
    """Lines of a comment, without what no comment may hold; none of an empty text."""
    plain = re.sub(r"[\x00-\x20\x7f-\x9f\u2028\u2029\ud800-\udfff]+", " ", words).strip()
    for line in textwrap.wrap(plain, _WIDTH, break_long_words=False, break_on_hyphens=False):
        yield f"# {line}"


def key(name: str) -> str:
    """The name of a key, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else text(name)
