"""Entries of other benchmarks, made up in the shape that theirs have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DOCKERFILE = 'FROM scratch\nCOPY server /server\nEXPOSE 8080\nENTRYPOINT ["/server"]\n'


def http_arena_entry(folder: Path, tests: Sequence[str], **described: Any) -> Path:
    """A folder as below `frameworks/` of HttpArena."""
    folder.mkdir(parents=True)
    meta = {
        "display_name": folder.name.title(),
        "language": "Go",
        "engine": "net/http",
        "type": "flagship",
        "mode": "standard",
        "completeness": {"routing": True},
        "description": 'A "server"',
        "repo": "https://example.org/server",
        "enabled": True,
        "tests": [*tests],
        "maintainers": [],
    }
    (folder / "meta.json").write_text(json.dumps(meta | described))
    (folder / "Dockerfile").write_text(DOCKERFILE)
    return folder


def techempower_entry(folder: Path, implementations: Mapping[str, Mapping[str, Any]]) -> Path:
    """A folder as below `frameworks/LANGUAGE/` of TechEmpower's repository, with a dockerfile for each."""
    folder.mkdir(parents=True)
    usual = {"approach": "Realistic", "classification": "Micro", "database": "None", "language": "Go", "orm": "Raw"}
    tests = {name: {**usual, "display_name": folder.name, **one} for name, one in implementations.items()}
    (folder / "benchmark_config.json").write_text(json.dumps({"framework": folder.name, "tests": [tests]}))
    for name in implementations:
        whole = folder.name if name == "default" else f"{folder.name}-{name}"
        (folder / f"{whole}.dockerfile").write_text(DOCKERFILE)
    return folder
