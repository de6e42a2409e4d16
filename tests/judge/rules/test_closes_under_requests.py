from touchstone.record.evidence.stop import Outcomes

from ..sound import fired
from ..stops import stopped


def test_a_request_that_met_a_closed_connection() -> None:
    (finding,) = fired(stopped(after=Outcomes(right=3, stale=1)), "closes-under-requests")
    assert "1 of 4 requests" in finding.statement


def test_a_request_on_a_connection_that_was_never_accepted() -> None:
    (finding,) = fired(stopped(after=Outcomes(right=3, stale=1, unread=2)), "closes-under-requests")
    assert "3 of 6 requests" in finding.statement
    assert "2 on new connections that it had not accepted" in finding.statement


def test_an_end_that_was_announced() -> None:
    assert not fired(stopped(after=Outcomes(right=3, refused=4)), "closes-under-requests")
