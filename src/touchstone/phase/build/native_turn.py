"""One native image at a time, and only where there is memory for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from touchstone.failure import TouchstoneError
from touchstone.phase.build.kept import locked_folder

LEAST_AVAILABLE = 6 * 1024**3
"""The builder of a service's image was seen to take 4 to 6 GB. With less it is killed after minutes, or takes others
with it."""


class NotEnoughMemoryError(TouchstoneError):
    """A native image is not begun, because it could not be finished."""


@contextmanager
def native_turn(cache: Path, available: int | None = None) -> Iterator[None]:
    """Wait until no other lab here builds an image, then check that memory suffices.

    `available` is the memory that is available, in bytes; by default what the kernel says. Raises NotEnoughMemoryError.
    """
    with locked_folder(cache / "native-build"):
        seen = psutil.virtual_memory().available if available is None else available
        if seen < LEAST_AVAILABLE:
            raise NotEnoughMemoryError(
                f"building a native image takes 6 GiB of memory, and {seen / 1024**3:.1f} GiB are available",
                fix="end other programs, or build on a larger machine",
            )
        yield
