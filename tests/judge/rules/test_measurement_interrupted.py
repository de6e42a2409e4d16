from touchstone.judge.judgement import Severity

from ..sound import fired, first_load, result_of, sound_run


def test_a_load_that_was_interrupted() -> None:
    run = sound_run()
    result_of(first_load(run)).interrupted = True
    (finding,) = fired(run, "measurement-interrupted")
    assert finding.severity is Severity.INVALID


def test_a_run_that_was_interrupted_between_two_loads() -> None:
    run = sound_run()
    run.interrupted = True
    assert not fired(run, "measurement-interrupted")
