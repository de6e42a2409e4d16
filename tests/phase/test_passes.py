"""The passes of a profile over one process: their sessions send what no session before them has sent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from touchstone.bench.base import blank_sample
from touchstone.bench.service import running
from touchstone.manifest.load import Load
from touchstone.phase.profile.passes import ProfilePasses
from touchstone.traffic.warming import WarmUpBudget

from .test_capacity_search import keeper


def test_numbers_are_unique_over_all_passes_of_a_process(tmp_path: Path) -> None:
    once = {"name": "once", "target": "/once/{counter}", "expect": {"body": "pong"}}
    bench, contender = keeper(tmp_path, Load.model_validate({"title": "Once", "connections": 4, "requests": [once]}))
    sample = blank_sample(bench, "profile", contender.name)
    counted: list[int] = []

    def around(carry_out: Callable[[], int]) -> None:
        counted.append(carry_out())

    with (
        running(bench, bench.builds[contender.name], sample.process) as found,
        ProfilePasses(bench, bench.loads["load"], found, 200.0) as passes,
    ):
        passes.warm_up(WarmUpBudget(0.2, 0.4))
        done = [passes.steady(0.3)]
        passes.counted(0.3, around)
        done.append(passes.steady(0.3))
    assert all(one.requests > 0 and one.failed == 0 for one in done)
    assert counted and counted[0] > 0
