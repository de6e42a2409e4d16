"""Writing into a folder that the user named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from touchstone.failure import TouchstoneError


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Raises TouchstoneError, with the place, where what is done inside meets a folder or file that cannot be made."""
    try:
        yield
    except OSError as error:
        where = str(error.filename or place)
        raise TouchstoneError(
            f"cannot be written: {error.strerror or error}", where=where, fix="name a folder that can be made"
        ) from error


def write_whole(target: Path, text: str) -> None:
    """Write a file and the folders above it, the whole text or nothing. Raises TouchstoneError if it cannot be."""
    unfinished = target.with_suffix(".unfinished")
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
