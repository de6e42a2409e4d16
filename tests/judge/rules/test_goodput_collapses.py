from ..bursts import burst, run_with
from ..sound import fired


def test_a_service_that_answers_hardly_a_request_in_time_is_named_with_its_goodput() -> None:
    (finding,) = fired(run_with(burst(900.0, 0.4)), "goodput-collapses")
    assert finding.statement == "at twice its capacity of 9,000/s, the service answers only 900/s within 250 ms"


def test_one_that_sheds_queues_dies_or_never_recovers_is_none() -> None:
    for one in (burst(8_800.0, 0.1), burst(4_000.0, 0.1), burst(0.0, None), burst(0.0, None, "exited with code 3")):
        assert not fired(run_with(one), "goodput-collapses")
