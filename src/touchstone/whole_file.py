"""Writes a file whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, text in UTF-8, and the folders above it, through a temporary name: an older file stays until then.

    A link keeps its place, and the file that it leads to is written. Devices and pipes, such as /dev/stdout, are
    written to, never replaced.

    Raises OSError if it cannot be written; nothing is left half written.
    """
    encoded = content.encode() if isinstance(content, str) else content
    # Path.resolve raises RuntimeError if links lead in a circle. The first of them is replaced.
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(target.name + ".unfinished")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        # Not the target: a link to a pipe that has no name, as in /proc/self/fd, leads to no path.
        if path.is_relative_to("/dev") or (path.exists() and not path.is_file() and not path.is_dir()):
            path.write_bytes(encoded)
            return
        try:
            unfinished.write_bytes(encoded)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
