from ..sound import fired
from ..stops import stopped


def test_rows_of_requests_without_a_response() -> None:
    (finding,) = fired(stopped(unanswered_work=4), "work-without-response")
    assert "4 units" in finding.statement


def test_as_many_rows_as_responses() -> None:
    assert not fired(stopped(unanswered_work=0), "work-without-response")
