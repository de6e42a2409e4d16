from touchstone.judge.judgement import Severity

from ..sound import ended, fired, first_load, result_of, sound_run


def test_timeouts_are_invalid_above_the_allowance() -> None:
    run = sound_run()
    ended(result_of(first_load(run)), timeout=3)
    (finding,) = fired(run, "timeouts")
    assert finding.severity is Severity.INVALID


def test_allowed_timeouts_still_cast_doubt_on_latencies() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.spec.error_allowance = 0.5
    ended(result_of(sample), timeout=3)
    (finding,) = fired(run, "timeouts")
    assert finding.severity is Severity.SUSPECT
    assert finding.figures is not None
    assert "latency_p99" in finding.figures
    assert "throughput" not in finding.figures


def test_other_errors_are_no_timeouts() -> None:
    run = sound_run()
    ended(result_of(first_load(run)), reset=3)
    assert not fired(run, "timeouts")
