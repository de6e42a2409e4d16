"""How much of the machine others used, over the loads of runs."""

from __future__ import annotations

import pytest

from touchstone.judge.reading.disturbance import disturbance

from .sound import result_of, sound_run


def test_what_others_used_is_a_share_of_all_cpus_without_the_dependencies() -> None:
    run = sound_run()
    run.environment.cpus = 2
    loads = [s for s in run.samples if s.phase == "load" and s.result is not None]
    for sample in loads:
        result = result_of(sample)
        whole = 2 * (result.window.measured_s + result.window.drain_s)
        own = sum(state.cpu_s for state in sample.dependencies if state.cpu_s)
        result.machine.other_cpu_s, result.machine.steal_s = 0.2 * whole + own, 0.05 * whole
    seen = disturbance([run])
    assert seen.loads == len(loads)
    assert seen.others == pytest.approx(0.2)
    assert seen.stolen == pytest.approx(0.05)


def test_where_nobody_looked_nothing_is_said() -> None:
    run = sound_run()
    run.samples = []
    assert disturbance([run]).others is None
