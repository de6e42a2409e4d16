from ..disturbances import disturbed
from ..sound import fired


def test_a_fault_that_came_late_makes_its_figures_doubtful() -> None:
    (finding,) = fired(disturbed(began_s=3.25), "fault-not-in-time")
    assert finding.statement == "a fault of 2 s started or ended 250 ms late"
    assert fired(disturbed(ended_s=5.3), "fault-not-in-time")


def test_a_tenth_of_its_length_is_in_time() -> None:
    assert not fired(disturbed(began_s=3.19, ended_s=5.19), "fault-not-in-time")
