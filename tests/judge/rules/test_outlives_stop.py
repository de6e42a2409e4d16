from ..sound import fired
from ..stops import stopped


def test_a_child_that_lives_on() -> None:
    (finding,) = fired(stopped(survivors=["41 (node)"]), "outlives-stop")
    assert "41 (node)" in finding.statement


def test_a_port_that_still_takes_connections() -> None:
    (finding,) = fired(stopped(listens_after=True), "outlives-stop")
    assert "a listener on its port remained" in finding.statement


def test_nothing_is_left() -> None:
    assert not fired(stopped(), "outlives-stop")
