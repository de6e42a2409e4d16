from touchstone.record.evidence.stop import Outcomes

from ..sound import fired
from ..stops import stopped


def test_requests_that_were_read_and_not_answered() -> None:
    (finding,) = fired(stopped(after=Outcomes(right=3, cut=2, broken=1)), "requests-lost-at-stop")
    assert "3 of 6 requests" in finding.statement


def test_requests_that_were_refused_or_never_read_are_not_lost() -> None:
    after = Outcomes(right=3, refused=4, unavailable=2, unprocessed=1, stale=1, unread=1)
    assert not fired(stopped(after=after), "requests-lost-at-stop")
