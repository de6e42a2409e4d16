import pytest

from touchstone.judge.judgement import Severity

from ..sound import fired, first_load, result_of, sound_run


@pytest.mark.parametrize("cost,severity", [(400.0, Severity.NOTE), (2000.0, Severity.SUSPECT)])
def test_a_clock_behind_a_system_call(cost: float, severity: Severity) -> None:
    run = sound_run()
    result_of(first_load(run)).generator.clock.cost_ns = cost
    (finding,) = fired(run, "clock-costly")
    assert finding.severity is severity


def test_a_clock_at_the_threshold() -> None:
    run = sound_run()
    result_of(first_load(run)).generator.clock.cost_ns = 250.0
    assert not fired(run, "clock-costly")
