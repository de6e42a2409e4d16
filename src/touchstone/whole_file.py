"""Writes a file whole or not at all."""

from __future__ import annotations

from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, text in UTF-8, and the folders above it, through a temporary name: an older file stays until then.

    A link keeps its place, and the file that it leads to is written. Devices and pipes, such as /dev/stdout, are
    written to, never replaced.

    Raises OSError if it cannot be written; nothing is left half written.
    """
    encoded = content.encode() if isinstance(content, str) else content
    target = path.resolve()
    unfinished = target.with_name(target.name + ".unfinished")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if path.is_relative_to("/dev") or (target.exists() and not target.is_file() and not target.is_dir()):
            path.write_bytes(encoded)
            return
        try:
            unfinished.write_bytes(encoded)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
