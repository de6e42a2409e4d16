"""One lab at a time at what is built or installed in the cache."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Wait until no other lab on this machine is at this folder: it would be taken, or emptied, half made."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_name(f"{home.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
