from touchstone.judge.judgement import Severity

from ..sound import fired, first_load, result_of, sound_run


def test_lateness_that_makes_up_the_tail() -> None:
    run = sound_run(offered=1000.0)
    result = result_of(first_load(run))
    result.lateness.p99 = 1.1 * (result.latency.p99 or 0)
    (finding,) = fired(run, "late-sends")
    assert finding.severity is Severity.INVALID


def test_a_pacing_slot_is_no_lateness() -> None:
    run = sound_run(offered=20_000.0)
    result = result_of(first_load(run))
    result.lateness.p99 = 0.0004
    result.latency.p99 = 0.0006
    assert not fired(run, "late-sends")
