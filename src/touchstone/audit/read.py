"""Files of published results, each read by the format that recognises it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from touchstone.audit.formats import hey, http_arena, k6, oha, techempower, the_benchmarker, vegeta, wrk
from touchstone.audit.published import Publication
from touchstone.failure import UsageError


class Format(Protocol):
    """What each module of `formats/` offers."""

    def recognises(self, document: Any, /) -> bool:
        """Whether a document has this shape."""

    def read(self, document: Any, name: str, /) -> Publication:
        """Its entries."""


FORMATS: tuple[Format, ...] = (techempower, the_benchmarker, k6, oha, vegeta, wrk, hey, http_arena)
"""In the order in which they are asked."""
_UNLIKE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What a reader meets where a file has a list for a table, a text for a number, or a number that is none."""


def read_publication(path: Path) -> Publication:
    """Read a file. Raises UsageError if it cannot be read, or has a shape that no format knows.

    A file that is no JSON is a tool's output as it was printed.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"cannot be read: {problem.strerror}", where=str(path), fix="name a result file") from problem
    except UnicodeDecodeError as problem:
        raise UsageError(f"is no text: {problem}", where=str(path), fix="name a result file") from problem
    try:
        document = json.loads(text)
    except json.JSONDecodeError:
        document = text
    for one in FORMATS:
        if one.recognises(document):
            try:
                return one.read(document, path.stem)
            except _UNLIKE as problem:
                lacks = f"no {problem}" if isinstance(problem, KeyError) else f"a value is of another kind: {problem}"
                raise UsageError(
                    f"is not as its format has it: {lacks}",
                    where=str(path),
                    fix="see docs/audit.md for the shapes",
                ) from problem
    raise UsageError(
        "has a shape that no known format has",
        where=str(path),
        fix="HttpArena, TechEmpower, the-benchmarker, k6, oha, vegeta, wrk and hey are known: docs/audit.md",
    )


def _refuse_the_same_twice(paths: Sequence[Path]) -> None:
    """One run that is given twice would be a series that does not scatter."""
    seen: dict[bytes, Path] = {}
    for path in paths:
        text = path.read_bytes()
        if text in seen:
            raise UsageError(
                f"holds what {seen[text]} holds, to the last byte",
                where=str(path),
                fix="give each run once: a copy is no repetition",
            )
        seen[text] = path


def read_together(paths: Sequence[Path]) -> Publication:
    """Several files of one format as one publication.

    Raises UsageError, also if their formats differ or two files are the same.
    """
    found = [read_publication(path) for path in paths]
    _refuse_the_same_twice(paths)
    formats = list(dict.fromkeys(one.format for one in found))
    if len(formats) > 1:
        raise UsageError(
            f"these files are of several formats: {', '.join(formats)}",
            where=", ".join(map(str, paths)),
            fix="give files of one tool: figures of different tools are not comparable",
        )
    results = [result for one in found for result in one.results]
    return Publication(formats[0], results, list(dict.fromkeys(cause for one in found for cause in one.of_all)))
