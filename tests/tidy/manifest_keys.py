"""Every table and every key of a manifest is explained where it is declared: the reference is made of that."""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.manifest.keys import ManifestTable


def breaches(tables: Iterable[ManifestTable]) -> list[str]:
    """Tables and keys without a docstring."""
    found = []
    for table in tables:
        place = f"{table.model.__module__}.{table.model.__name__}"
        found += [] if table.says else [f"{place} has no docstring"]
        found += [f"{place}: the key {key.name} has no docstring" for key in table.keys if not key.says]
    return found
