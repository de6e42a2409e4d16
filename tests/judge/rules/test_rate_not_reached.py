import pytest

from touchstone.judge.judgement import Severity

from ..sound import ended, fired, first_load, result_of, sound_run


def test_a_server_that_does_not_keep_up() -> None:
    run = sound_run(offered=1000.0)
    sample = first_load(run)
    result = result_of(sample)
    result.rate.achieved = sample.figures["throughput"] = 700.0
    for point in result.series:
        point.ok = 700
    (finding,) = fired(run, "rate-not-reached")
    assert finding.severity is Severity.INVALID
    assert "did not keep up" in finding.statement
    assert finding.figures is not None and "throughput" not in finding.figures


def test_a_random_schedule_that_falls_short_by_chance() -> None:
    run = sound_run(offered=50.0, seconds=3.0)
    result = result_of(first_load(run))
    result.rate.achieved = 46.0
    assert not fired(run, "rate-not-reached")


def test_errors_are_counted_by_their_own_rule() -> None:
    run = sound_run(offered=1000.0)
    result = result_of(first_load(run))
    ended(result, wrong_status=5000)
    result.rate.achieved = 500.0
    assert not fired(run, "rate-not-reached")


@pytest.mark.parametrize("answered", [1000, 900])
def test_a_slow_server_leaves_as_much_under_way_as_it_answers_in_one_latency(answered: int) -> None:
    """200 ms at 1,000 requests per second: 200 of 4,000 are under way at the end."""
    run = sound_run(offered=1000.0, seconds=4.0)
    result = result_of(first_load(run))
    result.rate.achieved = 950.0 if answered == 1000 else 850.0
    assert result.latency is not None
    result.latency.mean = 0.2
    for point in result.series:
        point.sent, point.ok = 1000, answered
    assert bool(fired(run, "rate-not-reached")) is (answered < 1000)


def test_requests_that_were_not_all_sent_are_not_reached() -> None:
    run = sound_run(offered=1000.0)
    result = result_of(first_load(run))
    result.rate.achieved = 700.0
    for point in result.series:
        point.sent = point.ok = 700
    assert fired(run, "rate-not-reached")
