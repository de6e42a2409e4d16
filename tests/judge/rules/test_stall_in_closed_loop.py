from touchstone.judge.judgement import Severity

from ..sound import codes, fired, first_load, result_of, sound_run


def test_a_stall_of_two_seconds() -> None:
    run = sound_run()
    sample = first_load(run)
    result_of(sample).latency.max = sample.figures["latency_max"] = 2.0
    (finding,) = fired(run, "stall-in-closed-loop")
    assert finding.severity is Severity.NOTE


def test_a_collectors_pause_is_no_stall() -> None:
    run = sound_run()
    sample = first_load(run)
    result_of(sample).latency.max = sample.figures["latency_max"] = 0.4
    assert codes(run) == set()
