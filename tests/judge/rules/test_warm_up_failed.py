from touchstone.judge.judgement import Severity

from ..sound import codes, fired, first_load, result_of, sound_run


def test_a_warm_up_of_which_one_request_in_a_hundred_failed() -> None:
    run = sound_run()
    first = result_of(first_load(run)).series[0]
    first.errors = first.sent // 40
    (finding,) = fired(run, "warm-up-failed")
    assert finding.severity is Severity.SUSPECT
    assert finding.evidence["failed"] == first.errors


def test_a_few_failures_of_the_warm_up_are_a_note() -> None:
    run = sound_run()
    result_of(first_load(run)).series[1].errors = 5
    (finding,) = fired(run, "warm-up-failed")
    assert finding.severity is Severity.NOTE


def test_failures_that_the_load_allows() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.load_spec["error_allowance"] = 0.05
    first = result_of(sample).series[0]
    first.errors = first.sent // 40
    assert not fired(run, "warm-up-failed")
    assert codes(run) == set()
