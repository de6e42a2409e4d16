from touchstone.record.evidence.stop import Outcomes

from ..sound import fired
from ..stops import stopped


def test_clients_that_send_nothing_hold_it_up() -> None:
    (finding,) = fired(stopped("stuck", after=Outcomes(), stop_s=5.2), "stop-held-up-by-clients")
    assert "5.2 s after SIGTERM" in finding.statement


def test_slow_requests_under_way_are_worth_a_wait() -> None:
    assert not fired(stopped("slow", stop_s=5.2), "stop-held-up-by-clients")
