"""A load's limits of memory and CPUs hold wherever a contender is started for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.run.demo import SERVER
from touchstone.bench import service
from touchstone.bench.base import Bench, Built, blank_sample
from touchstone.engine.job import Timing
from touchstone.isolation.cgroup import Cgroup
from touchstone.isolation.delegation import lacking
from touchstone.isolation.process import ServerProcess, start_process
from touchstone.manifest.catalogue import Contender, find_scenario, select_contenders
from touchstone.phase.floor.trial import PLAIN, FloorBench
from touchstone.phase.peak.phase import PeakPhase
from touchstone.phase.profile.phase import ProfilePhase

from .test_peak import bench_of

MIB = 2**20
CPUS = 0.5

pytestmark = pytest.mark.skipif(lacking("memory", "cpu") is not None, reason="needs cgroups")


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """The memory limit of each contender's group at its start, in bytes, as the kernel has it."""
    found: list[float | None] = []

    def start(*words: Any, cgroup: Cgroup, **more: Any) -> ServerProcess:
        found.append(cgroup.memory_limit())
        return start_process(*words, cgroup=cgroup, **more)

    monkeypatch.setattr(service, "start_process", start)
    return found


@pytest.fixture
def limited(tmp_path: Path) -> tuple[Bench, Contender]:
    """A bench whose load `ping` has limits, and a contender."""
    bench = bench_of(tmp_path)
    (contender,) = select_contenders(find_scenario(str(tmp_path / "demo"), tmp_path), [], exhibits=False)
    (tmp_path / "demo/slow/server.py").write_text(SERVER)
    command = ("/usr/bin/env", "python3", "server.py")
    built = Built(tmp_path / "demo/slow", (), command, {"PATH": "/usr/bin:/bin"})
    loads = {"ping": bench.scenario.loads["ping"].model_copy(update={"memory_limit_mb": 256, "cpus": CPUS})}
    scenario = bench.scenario.model_copy(update={"loads": loads})
    short = replace(bench.profile, peak_s=3.0, warm_least_s=0.3, warm_most_s=0.9, slice_s=0.1)
    return replace(bench, builds={contender.name: built}, scenario=scenario, loads=loads, profile=short), contender


def test_a_start_under_load_has_them(limited: tuple[Bench, Contender], limits: list[float | None]) -> None:
    bench, contender = limited
    (sample,) = PeakPhase().measure(bench, contender, 1, 0)
    assert sample.failure is None, sample.failure
    assert sample.process.placement.memory_limit == 256 * MIB
    assert sample.process.placement.cpu_limit == CPUS
    assert limits == [256 * MIB]


def test_the_rate_that_a_profile_is_taken_at_is_one_within_them(
    limited: tuple[Bench, Contender], limits: list[float | None]
) -> None:
    bench, contender = limited
    phase = ProfilePhase()
    assert len(list(phase.plan(bench, [contender]))) == 1
    assert phase.rates["ping"] > 0
    assert limits == [256 * MIB]


def test_a_floor_is_searched_within_its_loads_cpus(
    limited: tuple[Bench, Contender], limits: list[float | None]
) -> None:
    bench, contender = limited
    sample = blank_sample(bench, "floor", contender.name)
    trials = FloorBench(bench, contender, sample, bench.loads["ping"], Timing(0.1, 0.3, 0.0))
    assert trials.load_under(96, PLAIN).lives
    assert sample.process.placement.cpu_limit == CPUS
    assert trials.contract_under(128, PLAIN) is None
    assert sample.process.placement.cpu_limit == CPUS
    assert limits == [96 * MIB, 128 * MIB]
