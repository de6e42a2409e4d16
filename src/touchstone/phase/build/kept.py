"""What is kept in the cache of builds and installations: one lab at a time is at it, and it says what it is."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from touchstone.record.base import Record

Evidence = TypeVar("Evidence", bound=Record)


@contextmanager
def locked_folder(home: Path) -> Iterator[None]:
    """Wait until no other lab on this machine is at this folder: it would be taken, or emptied, half made."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_name(f"{home.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def recorded(path: Path, kind: type[Evidence]) -> Evidence | None:
    """What was measured when it was made. None of what was not finished, or was written by half: the disk was full."""
    with suppress(OSError, ValidationError):
        return kind.model_validate_json(path.read_text(encoding="utf-8"))
    return None
