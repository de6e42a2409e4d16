import pytest

from touchstone.judge.judgement import Severity

from ..sound import codes, fired, first_load, result_of, sound_run


@pytest.mark.parametrize("answered", [0, 1, 63])
def test_fewer_responses_than_connections_are_no_window(answered: int) -> None:
    run = sound_run()
    counts = result_of(first_load(run)).counts
    counts.completed = counts.ok = answered
    (finding,) = fired(run, "nothing-answered")
    assert finding.severity is Severity.INVALID


def test_a_window_in_which_nothing_was_sent() -> None:
    run = sound_run()
    counts = result_of(first_load(run)).counts
    counts.sent = counts.completed = counts.ok = 0
    (finding,) = fired(run, "nothing-answered")
    assert "no request was sent" in finding.statement


def test_one_response_per_connection_is_a_slow_service() -> None:
    run = sound_run()
    counts = result_of(first_load(run)).counts
    counts.completed = counts.ok = 64
    assert not fired(run, "nothing-answered")


def test_an_open_loop_is_alive_with_its_first_response() -> None:
    run = sound_run(offered=1000.0)
    result_of(first_load(run)).counts.completed = 1
    assert "nothing-answered" not in codes(run)
