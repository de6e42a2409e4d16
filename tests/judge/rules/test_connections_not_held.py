import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.connections import ClosedByServer, Closes

from ..sound import ended, fired, first_load, result_of, sound_run


@pytest.mark.parametrize("held,severity", [(60, Severity.SUSPECT), (32, Severity.INVALID)])
def test_missing_connections(held: int, severity: Severity) -> None:
    run = sound_run()
    result_of(first_load(run)).connections.held = held
    (finding,) = fired(run, "connections-not-held")
    assert finding.severity is severity


def test_one_between_closing_and_opening() -> None:
    run = sound_run()
    result_of(first_load(run)).connections.held = 63
    assert not fired(run, "connections-not-held")


def test_an_end_that_is_a_lucky_moment() -> None:
    run = sound_run()
    series = result_of(first_load(run)).series
    for point in series:
        point.connections = 48
    series[-1].connections = 64
    (finding,) = fired(run, "connections-not-held")
    assert finding.severity is Severity.INVALID


def test_a_moment_at_which_many_are_between_closing_and_opening() -> None:
    run = sound_run()
    points = [point for point in result_of(first_load(run)).series if point.phase == "load"]
    points[0].connections = 40
    assert not fired(run, "connections-not-held")


def test_a_server_that_closes_after_each_answer_is_named_by_another_rule() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.connections.held = 0
    result.connections.reconnects = result.counts.completed
    assert not fired(run, "connections-not-held")
    ended(result, reset=1)
    assert fired(run, "connections-not-held")


def test_users_who_pause_open_a_connection_when_they_need_it() -> None:
    run = sound_run()
    sample = first_load(run)
    result = result_of(sample)
    result.connections.held = 20
    closes = Closes(count=900, responses_least=1, responses_most=4, rested_least_s=1.0, rested_most_s=1.05)
    result.connections.closed = ClosedByServer(idle=closes)
    (finding,) = fired(run, "connections-not-held")
    assert finding.severity is Severity.INVALID
    assert "closes a connection that is idle for 1 s" in finding.statement
    sample.spec.journeys = [{"name": "visit", "steps": [{"target": "/", "think_s": 1.0}]}]
    (finding,) = fired(run, "connections-not-held")
    assert finding.severity is Severity.NOTE
    result.connections.errors.refused = 1
    (finding,) = fired(run, "connections-not-held")
    assert finding.severity is Severity.INVALID
