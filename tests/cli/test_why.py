"""`touchstone why` as a user types it, on a run whose parts are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import stored, touchstone
from tests.judge.profiles import BASE, SPIN, evidence, profile_run
from tests.judge.sound import sound_run
from tests.judge.tails import in_place, paused, tail_run, window


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    slow = [*BASE, (SPIN, 4.0)]
    run = profile_run({"go/std": [evidence(BASE)] * 4, "rust/std": [evidence(slow)] * 4})
    run.plan.baseline = "go"
    stored(run, tmp_path / "results" / "20260101-000000-users")
    return tmp_path


def test_it_explains_against_the_baseline_unless_told_otherwise(folder: Path) -> None:
    assert "rust/std takes 26.0 µs of CPU per request, go/std 22.0 µs" in touchstone(folder, "why").stdout
    turned = touchstone(folder, "why", "last", "rust", "go").stdout
    assert "go/std takes 22.0 µs of CPU per request, rust/std 26.0 µs" in turned


def test_a_machine_reads_the_same_and_stacks_are_written_for_other_viewers(folder: Path) -> None:
    done = touchstone(folder, "why", "--json", "--export", "out")
    (found,) = json.loads(done.stdout)["explanations"]
    assert found["functions"][0]["name"] == "main.spin"
    assert (found["baseline"], found["contender"], found["load"]) == ("go/std", "rust/std", "lookup")
    assert "lookup-go-std.folded" in done.stderr
    assert len(list((folder / "out").iterdir())) == 4


@pytest.mark.parametrize(
    ("words", "what", "there"),
    [
        (["python"], "'python' was not measured in this phase of the run", "go/std, rust/std"),
        (["go", "rust", "--load", "nothing"], "nothing was measured under 'nothing'", "lookup"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(folder: Path, words: list[str], what: str, there: str) -> None:
    done = touchstone(folder, "why", "last", *words)
    assert done.returncode == 2
    assert what in done.stderr
    assert there in done.stderr


def test_a_run_without_a_profile_says_how_to_get_one(tmp_path: Path) -> None:
    stored(sound_run(), tmp_path / "results" / "20260101-000000-users")
    done = touchstone(tmp_path, "why")
    assert done.returncode == 2
    assert "has no profile" in done.stderr
    assert "--phase profile" in done.stderr


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    run = tail_run({"go/std": [window(in_place("read"))] * 3, "rust/std": [window(paused)] * 3})
    run.plan.baseline = "go"
    stored(run, tmp_path / "results" / "20260101-000000-users")
    return tmp_path


def test_latency_is_told_in_three_lines_and_a_table(slow: Path) -> None:
    said = touchstone(slow, "why", "--latency").stdout
    assert "lookup: rust/std: p99 is 15.0 ms, that of go/std 15.0 ms" in said
    assert "rust/std, ms" in said
    assert "runtime pause" in said
    assert "CPU per request" in said
    (found,) = json.loads(touchstone(slow, "why", "--latency", "--json").stdout)["explanations"]
    assert {band["name"] for band in found["contender"]["bands"]} >= {"p50", "p99"}


def test_latency_has_no_stacks_to_export(slow: Path) -> None:
    done = touchstone(slow, "why", "--latency", "--export", "out")
    assert done.returncode == 2
    assert "leave --latency or --export out" in done.stderr


def test_latency_needs_its_own_phase(folder: Path) -> None:
    done = touchstone(folder, "why", "--latency")
    assert done.returncode == 2
    assert "--phase tail" in done.stderr
