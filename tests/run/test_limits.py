"""Limits of CPU and memory as a user asks for them, by the kernel that is there: `tests/kernel` boots version 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.run.demo import demo
from tests.run.test_end_to_end import report_of, touchstone
from touchstone.isolation.delegation import find_home, lacking

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(lacking("memory", "cpu") is not None, reason=f"needs cgroups: {find_home()}"),
]
FLOOR = """
[capacity]
objective = "p90 < 250ms"
loads = ["ping"]
[floor]
load = "ping"
from_mb = 4
to_mb = 64
"""


def test_a_cpu_limit_holds_under_a_load(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    code, report = report_of(tmp_path, str(folder), "--phase", "load", "--rounds", "1", "--cpus", "0.25")
    load = next(s for s in report["run"]["samples"] if s["phase"] == "load" and s["contender"] == "sound/plain")
    assert code == 0, report["judgement"]["failed"]
    assert load["process"]["placement"]["cpu_limit"] == 0.25
    assert load["figures"]["throttled_share"] > 0
    assert load["evidence"]["result"]["watch"]["throttled"], "the engine names the group whose quota cut periods short"
    assert load["process"]["confinement"] == []
    assert "cgroups" in report["run"]["environment"]


def test_the_smallest_memory_limit_is_found(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    (folder / "scenario.toml").write_text((folder / "scenario.toml").read_text() + FLOOR)
    code, report = report_of(tmp_path, str(folder), "--phase", "floor")
    floor = next(s for s in report["run"]["samples"] if s["phase"] == "floor")
    assert code == 0, floor
    assert 4 * 2**20 <= floor["figures"]["floor_lives"] <= floor["figures"]["floor_passes"] < 64 * 2**20
    assert any("killed by the kernel" in (trial["death"] or "") for trial in floor["evidence"]["tries"])


@pytest.mark.parametrize("memory", [["--memory", "48"], []], ids=["given", "searched"])
def test_a_container_is_sized(tmp_path: Path, memory: list[str]) -> None:
    folder = demo(tmp_path / "demo")
    (folder / "scenario.toml").write_text((folder / "scenario.toml").read_text() + FLOOR)
    words = ["--rate", "20", "--cpus", "0.5", *memory, "--rounds", "1", "--json", "--out", "sized"]
    done = touchstone(tmp_path, "size", str(folder), *words, within_s=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    (container,) = json.loads(done.stdout)["grid"]
    assert container["capacity"] > 20
    assert container["memory"] == 48 * 2**20 if memory else 4 * 2**20 <= container["memory"] < 64 * 2**20
