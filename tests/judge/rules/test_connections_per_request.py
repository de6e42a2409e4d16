from touchstone.record.connections import ClosedByServer, Closes

from ..slices import put_slices
from ..sound import codes, fired, first_load, result_of, sound_run


def test_a_server_that_closes_after_each_answer() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.connections.reconnects = result.connections.opened = result.counts.completed
    assert fired(run, "connections-per-request")


def test_a_connection_kept_where_each_request_wants_its_own() -> None:
    run = sound_run()
    first_load(run).spec.keepalive = False
    assert fired(run, "connections-per-request")


def test_a_connection_for_a_thousand_requests_is_a_setting() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.connections.reconnects = result.counts.completed // 1000
    assert codes(run) == set()


def test_connections_of_a_long_warm_up_are_held_against_its_requests_too() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.totals.completed = 10 * result.counts.completed
    result.connections.reconnects = result.totals.completed // 400
    assert codes(run) == set()
    result.totals.completed = 2 * result.counts.completed
    assert fired(run, "connections-per-request")


def test_connections_that_were_closed_in_the_turns_of_others() -> None:
    run = sound_run()
    sample = first_load(run)
    put_slices(sample, [2000.0] * 12)
    assert sample.slices is not None
    result = result_of(sample)
    result.connections.reconnects = 64 * len(sample.slices.slices)
    result.totals.completed = result.counts.completed = 6000
    assert fired(run, "connections-per-request")
    for turn in sample.slices.slices:
        turn.connection_errors = {"closed_idle": 64}
    assert not fired(run, "connections-per-request")
    # Who closes after each answer closes more in a turn than the load has connections.
    result.connections.reconnects = 6000
    for turn in sample.slices.slices:
        turn.connection_errors = {"closed_idle": 500}
    assert fired(run, "connections-per-request")


def test_the_bound_that_closes_them_is_named() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.connections.reconnects = result.counts.completed // 50
    limit = Closes(count=result.connections.reconnects, responses_least=50, responses_most=50)
    result.connections.closed = ClosedByServer(announced=limit)
    (finding,) = fired(run, "connections-per-request")
    assert finding.statement.endswith(". The server closes a connection after 50 responses")
    assert "keepalive_requests" in finding.next_step
