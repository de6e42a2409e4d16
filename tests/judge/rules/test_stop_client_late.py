from ..sound import fired
from ..stops import stopped


def test_a_client_that_was_starved() -> None:
    (finding,) = fired(stopped(latest_s=0.127), "stop-client-late")
    assert "127 ms" in finding.statement


def test_a_client_that_was_in_time() -> None:
    assert not fired(stopped(latest_s=0.004), "stop-client-late")
