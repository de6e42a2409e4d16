"""A file of published results, read by the format that recognises it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

from touchstone.audit.formats import http_arena, techempower, the_benchmarker
from touchstone.audit.published import Publication
from touchstone.failure import UsageError


class Format(Protocol):
    """What each module of `formats/` offers."""

    def recognises(self, document: Any, /) -> bool:
        """Whether a document has this shape."""

    def read(self, document: Any, name: str, /) -> Publication:
        """Its entries."""


FORMATS: tuple[Format, ...] = (techempower, the_benchmarker, http_arena)
"""In the order in which they are asked."""


def read_publication(path: Path) -> Publication:
    """Read a file. Raises UsageError if it cannot be read, is no JSON, or has a shape that no format knows."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise UsageError(f"cannot be read: {problem.strerror}", where=str(path), mend="name a result file") from problem
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"is no JSON: {problem}", where=str(path), mend="name a result file in JSON") from problem
    for one in FORMATS:
        if one.recognises(document):
            try:
                return one.read(document, path.stem)
            except (KeyError, TypeError, ValueError) as problem:
                raise UsageError(
                    f"is not as its format has it: {problem!r}",
                    where=str(path),
                    mend="see docs/audit.md for the shapes",
                ) from problem
    raise UsageError(
        "has a shape that no known format has",
        where=str(path),
        mend="HttpArena, TechEmpower and the-benchmarker are known: docs/audit.md",
    )
