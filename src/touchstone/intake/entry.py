"""An entry of another benchmark: its builds, its requests, and the omissions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.draft import DraftLoad, DraftRequest
from touchstone.intake.toml import table, text
from touchstone.manifest.files import STACK_SCHEMA

DESCRIPTIONS = {"httparena": "meta.json", "techempower": "benchmark_config.json"}
"""By benchmark: the file that describes an entry."""
BROKEN = "correct it, or fetch the entry again"


@dataclass(frozen=True)
class EntryTest:
    """One test of the benchmark in touchstone's words."""

    name: str
    checks: Sequence[DraftRequest]
    load: DraftLoad

    @property
    def targets(self) -> list[str]:
        """What its load asks for: by these a test is known again in a scenario."""
        return [request.target for request in self.load.requests]


@dataclass(frozen=True)
class EntryVariant:
    """One image of an entry."""

    name: str
    title: str
    dockerfile: str
    """Its path in the entry's folder, which is the build's context."""
    port: int
    tests: Mapping[str, EntryTest]
    """Tests that a scenario can express, by name."""
    args: Mapping[str, str] = field(default_factory=dict)
    """Build arguments."""


@dataclass(frozen=True)
class SkippedItem:
    """What is not taken over, and why."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"left out: {self.what}: {self.why}"


@dataclass(frozen=True)
class BenchmarkEntry:
    """One entry, as its benchmark's own description has it."""

    benchmark: str
    folder: Path
    name: str
    title: str
    language: str
    summary: str
    variants: Sequence[EntryVariant]
    left_out: Sequence[SkippedItem]
    known: Sequence[str]
    """The names of all tests of its benchmark that touchstone can express, whether this entry takes part or not."""

    def stack_toml(self, scenario: str, variants: Sequence[EntryVariant]) -> str:
        """The text of its stack.toml in a scenario."""
        lines = [
            STACK_SCHEMA,
            f"# From an entry of {self.benchmark}; the files next to this one are its own.",
            "schema = 1",
            f"name = {text(self.name)}",
            f"scenario = {text(scenario)}",
            f"title = {text(self.title)}",
            f"language = {text(self.language)}",
            f"summary = {text(self.summary)}",
        ]
        for variant in variants:
            # Both benchmarks run entries without a filter of system calls.
            image: dict[str, Any] = {"dockerfile": variant.dockerfile, "seccomp": "unconfined"}
            lines += ["", f"[variants.{variant.name}]", f"title = {text(variant.title)}"]
            lines.append(f"image = {table(image | ({'args': variant.args} if variant.args else {}))}")
            lines.append(f"port = {variant.port}")
        return "\n".join(lines) + "\n"


def read_description(folder: Path, benchmark: str) -> dict[str, Any]:
    """The JSON object that describes an entry of a benchmark, by its name in `DESCRIPTIONS`. Raises UsageError."""
    file = folder / DESCRIPTIONS[benchmark]
    if not file.is_file():
        other = next((name for name, described in DESCRIPTIONS.items() if (folder / described).is_file()), None)
        raise UsageError(
            f"this is not an entry of {benchmark}: there is no {file.name}",
            where=str(folder),
            fix=f"touchstone import {other} {folder}" if other else f"name the folder that {file.name} lies in",
        )
    try:
        document = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UsageError(f"it cannot be read: {error}", where=str(file), fix=BROKEN) from error
    if not isinstance(document, dict):
        raise UsageError("it holds no JSON object", where=str(file), fix=BROKEN)
    return document
