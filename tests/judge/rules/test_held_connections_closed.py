from touchstone.judge.judgement import Severity

from ..sound import fired
from .test_held_requests_failed import held


def test_a_close_at_rest_is_the_right_of_a_server() -> None:
    rests = {"count": 400, "responses_least": 1, "responses_most": 1, "rested_least_s": 5.0, "rested_most_s": 5.1}
    run = held(closed={"idle": rests})
    assert not fired(run, "held-requests-failed"), "it is not a failure"
    (finding,) = fired(run, "held-connections-closed")
    assert finding.severity is Severity.SUSPECT
    assert "closed 400 that should stay open. The server closes a connection that is idle for 5 s" in finding.statement
    assert "uvicorn" in str(finding.next_step)


def test_a_level_whose_connections_were_gone_when_memory_was_read_is_invalid() -> None:
    rests = {"count": 400, "rested_least_s": 5.0}
    (finding,) = fired(held(held=600, closed={"idle": rests}), "held-connections-closed")
    assert finding.severity is Severity.INVALID


def test_a_few_closes_are_a_note() -> None:
    (finding,) = fired(held(closed={"notified": {"count": 3, "status": {"408": 3}}}), "held-connections-closed")
    assert finding.severity is Severity.NOTE


def test_none_closed_is_none() -> None:
    assert not fired(held(), "held-connections-closed")
