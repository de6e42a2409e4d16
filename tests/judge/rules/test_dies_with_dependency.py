from ..disturbances import disturbed
from ..sound import fired


def test_a_process_that_ended_is_named_with_the_fault() -> None:
    (finding,) = fired(disturbed(died="exited with code 3"), "dies-with-dependency")
    assert finding.statement == "the service exited with code 3 during a load in which database stalls"


def test_one_that_lives_on_is_left_alone() -> None:
    assert not fired(disturbed(), "dies-with-dependency")
