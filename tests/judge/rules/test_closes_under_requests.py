from touchstone.record.evidence.stop import Outcomes

from ..sound import fired
from ..stops import stopped


def test_a_request_that_met_a_closed_connection() -> None:
    (finding,) = fired(stopped(after=Outcomes(right=3, stale=1)), "closes-under-requests")
    assert "1 of 4 requests" in finding.statement


def test_an_end_that_was_announced() -> None:
    assert not fired(stopped(after=Outcomes(right=3, refused=4)), "closes-under-requests")
