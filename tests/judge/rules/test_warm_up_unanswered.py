import pytest

from touchstone.judge.judgement import Severity

from ..sound import codes, fired, first_load, result_of, sound_run


@pytest.mark.parametrize(("lost", "severity"), [(1, Severity.SUSPECT), (2, Severity.INVALID), (64, Severity.INVALID)])
def test_requests_of_the_warm_up_that_never_had_a_response(lost: int, severity: Severity) -> None:
    run = sound_run()
    # 64 connections: 2 % of them lie between the first and the second.
    result_of(first_load(run)).series[0].sent += lost
    (finding,) = fired(run, "warm-up-unanswered")
    assert finding.severity is severity
    assert finding.evidence["lost"] == lost


def test_requests_of_the_warm_up_that_time_out_within_the_window() -> None:
    run = sound_run()
    series = result_of(first_load(run)).series
    series[0].sent += 5
    series[4].errors += 5
    (finding,) = fired(run, "warm-up-unanswered")
    assert finding.evidence["lost"] == 5


def test_errors_of_the_warm_up_itself_belong_to_the_warm_up() -> None:
    run = sound_run()
    series = result_of(first_load(run)).series
    series[0].sent += 5
    series[1].errors += 5
    assert codes(run) == {"warm-up-failed"}
    assert not fired(run, "warm-up-unanswered")


@pytest.mark.parametrize(("allowed", "expected"), [(0.0, 1), (0.05, 1), (0.1, 0)])
def test_what_the_load_allows_to_fail_may_fail_in_its_warm_up(allowed: float, expected: int) -> None:
    run = sound_run()
    sample = first_load(run)
    sample.spec.error_allowance = allowed
    # 5 of 64 connections.
    result_of(sample).series[0].sent += 5
    assert len(fired(run, "warm-up-unanswered")) == expected
