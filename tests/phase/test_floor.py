"""The floor is found by bisection, to one megabyte, and heap flags follow the limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.bench.base import Built
from touchstone.manifest.stack import MemorySetting
from touchstone.phase.floor.search import FloorSearch, Trial, curve_limits, smallest
from touchstone.phase.floor.trial import with_setting


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


@pytest.mark.parametrize(("threshold", "start"), [(4, 40), (30, 33), (33, 30), (63, 10), (64, 4)])
def test_a_start_near_the_threshold_saves_steps_and_changes_nothing(threshold: int, start: int) -> None:
    assert smallest(4, 64, lambda limit: limit >= threshold, start) == threshold


def test_a_start_beyond_all_limits_is_the_highest() -> None:
    assert smallest(4, 64, lambda limit: limit >= 64, 500) == 64
    assert smallest(4, 64, lambda _limit: False, 500) is None


class Machine:
    """A contender that passes and lives from a limit on, another one with each setting."""

    def __init__(self, passes: dict[str, int], lives: dict[str, int]) -> None:
        self.passes, self.lives = passes, lives
        self.tried: list[tuple[int, str]] = []
        self.search = FloorSearch(list(passes), 2, 512, self.attempt)

    def attempt(self, limit: int, setting: str) -> Trial:
        self.tried.append((limit, setting))
        return Trial(limit, setting, limit >= self.lives[setting], limit >= self.passes[setting])


def test_the_floors_are_the_least_of_all_settings() -> None:
    machine = Machine({"a": 90, "b": 61, "c": 70}, {"a": 12, "b": 40, "c": 11})
    assert machine.search.passes(150) == (61, "b")
    assert machine.search.lives(61) == (11, "c")
    assert len(machine.tried) == len(set(machine.tried)), "a trial was made twice"


def test_a_setting_that_is_no_better_costs_one_trial() -> None:
    machine = Machine({"a": 60, "b": 60, "c": 200}, {"a": 20, "b": 20, "c": 20})
    machine.search.passes(80)
    assert [setting for _, setting in machine.tried].count("b") == 1
    assert [setting for _, setting in machine.tried].count("c") == 1


def test_where_no_limit_is_enough_there_is_no_floor() -> None:
    machine = Machine({"a": 600}, {"a": 30})
    assert machine.search.passes(80) is None
    assert machine.search.lives(None) == (30, "a")


def test_the_curve_is_filled_where_it_has_no_point() -> None:
    assert curve_limits(20, 512, [20, 22, 40]) == [32, 60, 80]
    assert curve_limits(300, 512, [300]) == [375, 480]


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


def test_flags_that_are_no_heap_flags_stay() -> None:
    argv = ("/jdk/bin/java", "-Xms1g", "-Xss512k", "-XX:+UseSerialGC", "-XX:+UseCompactObjectHeaders", "-jar", "a.jar")
    setting = MemorySetting(title="parallel", args=["-Xmx{heap_mb}m", "-XX:+UseParallelGC"], heap_share=0.5)
    assert with_setting(Built(Path("/w"), (), argv, {}), setting, 64).argv[1:] == (
        "-Xmx32m",
        "-XX:+UseParallelGC",
        "-Xss512k",
        "-XX:+UseCompactObjectHeaders",
        "-jar",
        "a.jar",
    )
