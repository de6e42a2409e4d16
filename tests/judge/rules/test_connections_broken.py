from touchstone.judge.judgement import Severity
from touchstone.record.connections import ClosedByServer, Closes
from touchstone.record.run import Run

from ..sound import codes, ended, fired, first_load, result_of, sound_run


def test_resets_are_invalid() -> None:
    run = sound_run()
    ended(result_of(first_load(run)), reset=12)
    (finding,) = fired(run, "connections-broken")
    assert finding.severity is Severity.INVALID
    assert "12 reset" in finding.statement


def test_allowed_resets_are_suspect() -> None:
    run = sound_run()
    first_load(run).spec.error_allowance = 0.5
    ended(result_of(first_load(run)), closed_mid_response=12)
    (finding,) = fired(run, "connections-broken")
    assert finding.severity is Severity.SUSPECT


def test_refused_connections_are_invalid_though_no_request_failed_by_them() -> None:
    run = sound_run()
    result_of(first_load(run)).connections.errors.refused = 3
    (finding,) = fired(run, "connections-broken")
    assert finding.severity is Severity.INVALID
    assert finding.evidence["errors"] == {"refused": 3}
    assert not fired(run, "errors-above-allowance")


def test_a_connection_closed_while_idle_cost_no_request() -> None:
    run = sound_run()
    result_of(first_load(run)).connections.errors.closed_idle = 12
    assert not fired(run, "connections-broken")


def _repeated(share: float, closes: Closes) -> Run:
    run = sound_run()
    result = result_of(first_load(run))
    result.counts.repeated = int(share * result.counts.sent)
    result.connections.closed = ClosedByServer(under_request=closes)
    return run


LIMIT = Closes(count=40, responses_least=1000, responses_most=1000)


def test_requests_repeated_at_a_bound_are_a_note_that_names_it() -> None:
    (finding,) = fired(_repeated(0.001, LIMIT), "connections-broken")
    assert finding.severity is Severity.NOTE
    assert "closes a connection after 1,000 responses" in finding.statement
    assert "keepalive_requests" in finding.next_step and "MaxKeepAliveRequests" not in finding.next_step


def test_many_repeated_requests_are_suspect_for_what_they_cost() -> None:
    (finding,) = fired(_repeated(0.012, LIMIT), "connections-broken")
    assert finding.severity is Severity.SUSPECT
    assert finding.figures is not None and "latency_p99" in finding.figures


def test_a_server_that_loses_requests_follows_no_bound() -> None:
    (finding,) = fired(_repeated(0.001, Closes(count=40, responses_least=2, responses_most=977)), "connections-broken")
    assert finding.severity is Severity.SUSPECT


def test_a_post_that_may_not_be_repeated_is_told_with_what_to_do() -> None:
    run = sound_run()
    ended(result_of(first_load(run)), kept_connection_closed=5)
    (finding,) = fired(run, "connections-broken")
    assert finding.severity is Severity.INVALID
    assert "5 kept connection closed" in finding.statement
    assert "RFC 9110" in finding.next_step


def test_streams_that_the_server_gave_up_are_told() -> None:
    run = sound_run()
    ended(result_of(first_load(run)), stream_reset=3, going_away=2)
    (finding,) = fired(run, "connections-broken")
    assert "3 stream reset" in finding.statement
    assert "2 going away" in finding.statement


def test_a_sound_run_has_none() -> None:
    assert "connections-broken" not in codes(sound_run())
