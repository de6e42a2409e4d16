"""Media types as documents name them (RFC 9110, 8.3.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TYPE = re.compile(r"([!#$%&'*+.^_`|~0-9a-z-]+)/([!#$%&'*+.^_`|~0-9a-z-]+)")
FORM, MULTIPART, JSON = "application/x-www-form-urlencoded", "multipart/form-data", "application/json"
_LINES = {"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"}
_LINES |= {"application/json-lines", "application/jsonlines", "text/jsonl"}


def essence(media_type: str) -> str:
    """Type and subtype in lower case, without parameters; empty for what is not a media type."""
    found = media_type.partition(";")[0].strip().lower()
    return found if _TYPE.fullmatch(found) else ""


def is_range(media_type: str) -> bool:
    """Whether it stands for several, such as `text/*`."""
    return essence(media_type).endswith("/*")


def kind(media_type: str) -> str:
    """How a value is written: `json`, `lines`, `form`, `multipart`, `xml`, `text` or `bytes`."""
    name = essence(media_type)
    if name in _LINES:
        return "lines"
    if name in ("*/*", "application/*", JSON, "text/json") or name.endswith("+json"):
        return "json"
    if name in (FORM, MULTIPART):
        return "form" if name == FORM else "multipart"
    if name in ("application/xml", "text/xml") or name.endswith("+xml"):
        return "xml"
    return "text" if name.startswith("text/") else "bytes"


def preferred(media_types: Iterable[str], order: Iterable[str]) -> str | None:
    """The one whose kind comes first, of those that are media types. No range where another will do."""
    ranks = list(order)
    known = [one for one in media_types if essence(one)]
    return min(known, key=lambda one: (ranks.index(kind(one)), is_range(one)), default=None)
