"""Places in a text that touchstone fills in, such as `{port}`.

The rule for braces is that of templates: a brace stands for itself unless it opens a name; `{brace}` is a brace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_PLACE = re.compile(r"\{(tls\.[a-z]+|[a-z][a-z0-9_-]*)\}")
_BRACE = {"brace": "{"}


def fill_places(text: str, values: Mapping[str, str]) -> str:
    """The text with every place filled in that has a value."""
    known = {**values, **_BRACE}
    return _PLACE.sub(lambda match: known.get(match[1], match[0]), text)


def unknown_place(text: str, known: Iterable[str]) -> str | None:
    """What is wrong with the first place in a text that has no value. None if all have one."""
    names = list(known)
    for name in _PLACE.findall(text):
        if name not in names and name not in _BRACE:
            there_are = ", ".join(f"{{{one}}}" for one in names) or "none"
            return f"{{{name}}} is not a place here; there are: {there_are} ({{brace}} is a brace)"
    return None
