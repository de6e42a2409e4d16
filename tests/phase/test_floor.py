"""The floor is found by bisection, to one megabyte, and heap flags follow the limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.manifest.stack import MemorySetting
from touchstone.phase.base import Built
from touchstone.phase.floor import smallest, with_setting


@pytest.mark.parametrize("threshold", [4, 5, 37, 63, 64])
def test_bisection_finds_the_threshold_in_few_steps(threshold: int) -> None:
    asked: list[int] = []

    def holds(limit: int) -> bool:
        asked.append(limit)
        return limit >= threshold

    assert smallest(4, 64, holds) == threshold
    assert len(asked) <= 8


def test_a_limit_that_is_never_enough_is_said() -> None:
    assert smallest(4, 64, lambda _limit: False) is None


def test_heap_flags_follow_the_limit_and_replace_the_variants_own() -> None:
    built = Built(Path("/w"), (), ("/jdk/bin/java", "-Xmx512m", "-XX:+UseG1GC", "-jar", "a.jar"), {"A": "1"})
    setting = MemorySetting(title="serial", args=["-Xmx{heap_mb}m", "-XX:+UseSerialGC"], heap_share=0.5)
    assert with_setting(built, setting, 100).argv == (
        "/jdk/bin/java",
        "-Xmx50m",
        "-XX:+UseSerialGC",
        "-jar",
        "a.jar",
    )
    go = MemorySetting(title="limit", env={"GOMEMLIMIT": "{heap_mb}MiB"}, heap_share=0.9)
    assert with_setting(Built(Path("/w"), (), ("./server",), {}), go, 20).env == {"GOMEMLIMIT": "18MiB"}
