from ..disturbances import disturbed
from ..sound import fired


def test_a_fault_that_came_late_makes_its_figures_doubtful() -> None:
    (finding,) = fired(disturbed(began_s=3.2), "fault-not-in-time")
    assert finding.statement == "a fault was 200 ms late"
    assert fired(disturbed(ended_s=5.3), "fault-not-in-time")


def test_a_tenth_of_a_second_is_in_time() -> None:
    assert not fired(disturbed(began_s=3.09, ended_s=5.09), "fault-not-in-time")
