"""`touchstone run --phase capacity` from the command line, on a server of known capacity."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.calibration.limited import limited_scenario

from touchstone.record.run import Run
from touchstone.record.sample import TARE
from touchstone.record.store import load_run

from .test_end_to_end import touchstone


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, str]:
    """One round of a token server, and all details of it."""
    folder = tmp_path_factory.mktemp("capacity")
    limited_scenario(folder / "limited", {"tokens": ("dies", "1500", "200")})
    words = ("--quick", "--rounds", "1", "--phase", "capacity", "--objective", "p90 < 40ms, errors < 1%")
    touchstone(folder, "run", str(folder / "limited"), *words, "--out", str(folder / "out"))
    details = touchstone(folder, "show", str(folder / "out"), "--details")
    return load_run(folder / "out"), details.stdout


def test_the_capacity_is_found_with_its_interval_and_its_curve(measured: tuple[Run, str]) -> None:
    run, _ = measured
    (sample,) = [s for s in run.samples if s.phase == "capacity" and s.contender != TARE]
    assert sample.failure is None
    assert sample.figures["capacity"] == pytest.approx(1_500.0, rel=0.15)
    assert sample.capacity is not None
    assert sample.capacity.low is not None
    assert sample.capacity.low <= sample.figures["capacity"]
    curve = [trial.rate for trial in sample.capacity.trials if trial.purpose == "curve"]
    assert min(curve) < 0.2 * sample.figures["capacity"]
    assert [round(point.rate / sample.figures["capacity"], 2) for point in sample.capacity.at_rates] == [0.1, 0.5, 0.8]
    assert sample.figures["capacity_cpu_50"] > 0
    assert sample.figures["capacity_rss_50"] > 2**16
    assert all(check.passed for check in sample.checks)


def test_a_server_that_dies_past_its_knee_has_a_capacity_all_the_same(measured: tuple[Run, str]) -> None:
    run, printed = measured
    (sample,) = [s for s in run.samples if s.phase == "capacity" and s.contender != TARE]
    assert sample.capacity is not None
    assert sample.capacity.dies_at is not None
    assert sample.capacity.dies_at > sample.figures["capacity"]
    assert sample.process.server_exit is None
    assert "the service died at" in printed


def test_the_null_server_is_searched_too(measured: tuple[Run, str]) -> None:
    run, _ = measured
    (tare,) = [s for s in run.samples if s.phase == "capacity" and s.contender == TARE]
    assert tare.figures["capacity"] > 1_500.0


def test_an_objective_that_cannot_be_read_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    folder = limited_scenario(tmp_path / "limited", {"tokens": ("tokens", "1500")})
    done = touchstone(tmp_path, "run", str(folder), "--phase", "capacity", "--objective", "p99 < 5%")
    assert done.returncode == 2
    assert "--objective" in done.stderr
    assert "held against a time" in done.stderr
    done = touchstone(tmp_path, "run", str(folder), "--objective", "p99 < 5ms")
    assert done.returncode == 2
    assert "--phase capacity" in done.stderr


@pytest.mark.slow
def test_contenders_that_cannot_run_together_are_searched_one_by_one(tmp_path: Path) -> None:
    folder = limited_scenario(tmp_path / "limited", {"tokens": ("tokens", "800"), "twice": ("tokens", "1600")})
    words = ("--quick", "--rounds", "1", "--phase", "capacity", "--objective", "p90 < 40ms, errors < 1%")
    touchstone(tmp_path, "run", str(folder), *words, "--whole-windows", "--out", str(tmp_path / "out"))
    run = load_run(tmp_path / "out")
    (note,) = run.notes
    assert "as was asked: the capacity of each is searched by itself" in note
    found = {s.contender: s for s in run.samples if s.phase == "capacity" and s.contender != TARE}
    assert found["tokens/plain"].figures["capacity"] == pytest.approx(800.0, rel=0.15)
    assert found["twice/plain"].figures["capacity"] == pytest.approx(1_600.0, rel=0.15)
    for sample in found.values():
        assert sample.capacity is not None
        assert sample.capacity.at_rates == [], "they have no rate in common"
