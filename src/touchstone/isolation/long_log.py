"""What is kept of a log of hundreds of megabytes: its beginning and its end, and how much stood between them."""

from __future__ import annotations

from pathlib import Path

MOST_BYTES = 16 * 2**20
"""A log that is longer is no longer read by anybody, and one for each load and round would fill a disk."""


def shorten(log: Path, most: int = MOST_BYTES) -> int:
    """Cut the middle of a finished log longer than `most` bytes. Returns the size that it had."""
    size = log.stat().st_size if log.is_file() else 0
    if size <= most:
        return size
    half = most // 2
    with log.open("r+b") as stream:
        stream.seek(size - half)
        end = stream.read(half)
        stream.seek(half)
        stream.write(f"\n[touchstone left out {size - 2 * half:,} of {size:,} bytes here]\n".encode())
        stream.write(end)
        stream.truncate()
    return size
