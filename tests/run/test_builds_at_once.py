"""A first look builds several contenders at once, and times none of them; `--phase build` times each."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
import pytest

from tests.run.demo import SCENARIO, add_stack
from tests.run.test_end_to_end import report_of
from touchstone.isolation.process import lives
from touchstone.manifest.catalogue import read_scenario_folder, select_contenders
from touchstone.plan.plan import RunRequest
from touchstone.record.sample import Sample
from touchstone.record.store import load_run
from touchstone.run import builds_at_once
from touchstone.run.measure import RunConditions, measure

MEETS = """
import pathlib, sys, time
place, own, other = pathlib.Path({place!r}), {own!r}, {other!r}
(place / own).touch()
until = time.monotonic() + 120
while not (place / other).exists():
    if time.monotonic() > until:
        sys.exit("the other is not built at the same time")
    time.sleep(0.02)
"""


def _meeting(folder: Path, own: str, other: str) -> None:
    add_stack(folder, own, build='[["python3", "meet.py"]]')
    # A build sees its stack's folder and the cache, and nothing else of the user's.
    place = str(folder.parent / "cache")
    (folder / own / "meet.py").write_text(MEETS.format(place=place, own=own, other=other))


def _builds(tmp_path: Path, folder: Path, name: str, *, timed: bool) -> list[Sample]:
    conditions = RunConditions(results=tmp_path, folder=tmp_path / name, timed_builds=timed)
    store = measure(folder, RunRequest(profile="quick", phases=("build",)), conditions=conditions)
    return [sample for sample in load_run(store.folder).samples if sample.phase == "build"]


def test_builds_that_wait_for_each_other_succeed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    # What else uses the machine's memory does not decide.
    monkeypatch.setattr(builds_at_once, "_MEMORY_EACH", 1)
    (tmp_path / "cache").mkdir()
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "scenario.toml").write_text(SCENARIO)
    _meeting(folder, "one", "two")
    _meeting(folder, "two", "one")
    builds = _builds(tmp_path, folder, "first", timed=False)
    assert [(sample.failure, sample.build and sample.build.cached) for sample in builds] == [(None, True)] * 2
    for sample in builds:
        assert sample.figures["artifact_bytes"] > 0
        assert "at once" in sample.not_measured["build_cold"]
        assert {"build_cold", "build_warm"}.isdisjoint(sample.figures)
    # A run that asks for times builds again, and a first look is content with what is timed.
    for timed, cached in [(True, False), (False, True)]:
        for sample in _builds(tmp_path, folder, f"then-{timed}", timed=timed):
            assert sample.build is not None
            assert sample.build.cached is cached
            assert sample.figures["build_cold"] > 0


def test_a_build_that_is_asked_to_end_twice_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is where its parent has threads: with each that ends, the kernel sends the signal again (prctl(2))."""
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    folder, pid = tmp_path / "demo", tmp_path / "cache/pid"
    folder.mkdir()
    (folder / "scenario.toml").write_text(SCENARIO)
    # What ignores the signal takes its time to end.
    add_stack(folder, "slow", build=f"""[["sh", "-c", "trap '' TERM; sleep 300 & echo $! >{pid}; wait"]]""")
    (contender,) = select_contenders(read_scenario_folder(folder), ["slow"])
    child = builds_at_once._start(folder, contender, tmp_path / "built")
    while not (pid.is_file() and pid.read_text().strip()):
        assert child.poll() is None
        time.sleep(0.05)
    sleeping = psutil.Process(int(pid.read_text()))
    child.terminate()
    time.sleep(0.5)
    child.terminate()
    child.wait(60)
    left = lives(sleeping)
    if left:
        sleeping.kill()
    assert not left


def test_a_build_that_fails_is_reported_and_the_others_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "scenario.toml").write_text(SCENARIO)
    add_stack(folder, "broken", build='[["python3", "-c", "import sys; sys.exit(3)"]]')
    add_stack(folder, "sound", build='[["python3", "-c", "pass"]]')
    code, report = report_of(tmp_path, "demo", "--rounds", "1", "--load", "ping")
    assert code == 4
    builds = {s["contender"]: s for s in report["run"]["samples"] if s["phase"] == "build"}
    assert "ended with code 3" in builds["broken/plain"]["failure"]["what"]
    assert builds["sound/plain"]["failure"] is None
    assert "at once" in builds["sound/plain"]["not_measured"]["build_cold"]
