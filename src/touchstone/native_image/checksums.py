"""The files that the assembly downloads, by their known SHA-256."""

from __future__ import annotations

from importlib.resources import files


def known_checksums(table: str) -> dict[str, str]:
    """SHA-256 by file name, as the lines of `table` have them: `jars.sha256` or `jdk_sources.sha256`."""
    text = files("touchstone.native_image").joinpath(table).read_text(encoding="utf-8")
    return {name: checksum for checksum, name in (line.split() for line in text.splitlines() if line)}
