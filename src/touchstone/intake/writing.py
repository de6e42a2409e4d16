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
