from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity, Verdict

from ..sound import ended, fired, first_load, result_of, sound_run


def test_error_pages_make_a_sample_invalid() -> None:
    run = sound_run()
    sample = first_load(run)
    counts = result_of(sample).counts
    ended(result_of(sample), wrong_status=counts.sent - 1)
    (finding,) = fired(run, "errors-above-allowance")
    assert finding.severity is Severity.INVALID
    assert finding.sample == sample.id
    assert "wrong status" in finding.statement
    assert judge(run).sample_verdicts[sample.id] is Verdict.INVALID


def test_errors_within_the_allowance_pass() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.spec.error_allowance = 0.01
    ended(result_of(sample), reset=int(0.009 * result_of(sample).counts.sent))
    assert not fired(run, "errors-above-allowance")


def test_connections_closed_while_idle_cost_no_request() -> None:
    run = sound_run()
    result_of(first_load(run)).connections.errors.closed_idle = 50
    assert not fired(run, "errors-above-allowance")


def test_a_load_without_one_right_response_is_none_whatever_it_allows() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.spec.error_allowance = 1.0
    ended(result_of(sample), wrong_status=result_of(sample).counts.sent)
    assert fired(run, "errors-above-allowance")


def test_what_was_under_way_when_the_load_was_interrupted_is_no_failure_of_the_service() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.counts.unanswered = result.counts.failed = 20
    assert fired(run, "errors-above-allowance")
    result.interrupted = True
    assert not fired(run, "errors-above-allowance")
    result.counts.failed += 1
    assert fired(run, "errors-above-allowance")
