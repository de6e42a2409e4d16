"""Warm-ups of real servers: what is compiled while they run is done before their slices count."""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.run.demo import add_stack, demo
from tests.run.test_end_to_end import report_of, samples_of, touchstone
from touchstone.manifest.catalogue import read_scenario_folder, select_contenders
from touchstone.plan.plan import find_tools


def warmed(tmp_path: Path, scenario: Path, contender: str) -> tuple[dict[str, Any], list[float], list[float]]:
    """One round: how the warm-up ended, and CPU per request in the warm-up's slices and in those that count."""
    code, _ = report_of(tmp_path, str(scenario), "--rounds", "1", "--phase", "load")
    assert code == 0
    (sample,) = (sample for sample in samples_of(tmp_path, "load") if sample["contender"] == contender)
    slices = sample["evidence"]["slices"]
    costs: dict[str, list[float]] = {"warmup": [], "load": []}
    for one in slices["slices"]:
        costs[one["lap_phase"]].append(one["server_cpu_s"] / one["completed"])
    return slices["warm_up"], costs["warmup"], costs["load"]


def test_a_compiler_that_the_load_leaves_no_cpu_has_done_its_work_before_slices_count(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    shutil.rmtree(folder / "sound")
    add_stack(folder, "compiled", fault="compiles")
    warm_up, before, counted = warmed(tmp_path, folder, "compiled/plain")
    assert warm_up["ended"] == "flat"
    assert not warm_up["busy_without_load"]
    assert statistics.median(counted) < 0.7 * statistics.median(before[:4])


@pytest.mark.slow
def test_a_jvm_has_come_to_rest_before_its_slices_count(tmp_path: Path) -> None:
    assert touchstone(tmp_path, "new", "mine", "--stack", "java").returncode == 0
    folder = tmp_path / "mine"
    if isinstance(missing := find_tools(select_contenders(read_scenario_folder(folder), [])[0]), str):
        pytest.skip(missing)
    (contender,) = select_contenders(read_scenario_folder(folder), [])
    warm_up, before, counted = warmed(tmp_path, folder, contender.name)
    assert warm_up["ended"] == "flat"
    assert warm_up["busy_without_load"] is False
    assert statistics.median(counted) < 0.6 * statistics.median(before[:4])
