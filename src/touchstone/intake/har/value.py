"""Values of a HAR file, of which none can be relied on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class LeftOutError(Exception):
    """Why an entry is left out, in words that go behind its name."""


@dataclass
class DraftNotes:
    """What a draft's reader should know about a request, and what to check."""

    notes: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)


def table_of(holder: Any, name: str, otherwise: str) -> dict[str, Any]:
    """The object under a name. Raises LeftOutError with the words given."""
    found = holder.get(name) if isinstance(holder, dict) else None
    if not isinstance(found, dict):
        raise LeftOutError(otherwise)
    return found


def text_of(holder: Mapping[str, Any], name: str) -> str:
    """The text under a name. Raises LeftOutError."""
    found = holder.get(name)
    if not isinstance(found, str) or not found:
        raise LeftOutError(f"its request has no {name}")
    return found


def number_of(holder: Mapping[str, Any], name: str) -> float | None:
    """The number under a name, also one that is written as text. None if there is none."""
    found = holder.get(name)
    if isinstance(found, bool) or not isinstance(found, (int, float, str)):
        return None
    try:
        number = float(found)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def must_be_whole(text: str, what: str) -> None:
    """Raises LeftOutError for a text that is not a sequence of characters: JSON may hold half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise LeftOutError(f"{what} holds half of a character") from error
