from ..bursts import burst, run_with
from ..sound import fired


def test_a_service_that_stays_late_after_the_burst_is_named_with_what_it_answers() -> None:
    (finding,) = fired(run_with(burst(0.0, None)), "never-recovers")
    assert finding.statement == (
        "the service did not recover within 6 s after the burst. At 70% of its capacity it answered 120/s of 6,300/s "
        "within 250 ms, and its latency stayed above the usual one"
    )


def test_one_that_recovers_or_has_died_is_none() -> None:
    for one in (burst(0.0, 2.5), burst(8_800.0, 0.0), burst(0.0, None, "exited with code 3")):
        assert not fired(run_with(one), "never-recovers")


def test_a_burst_that_others_disturbed_accuses_nobody() -> None:
    one = burst(0.0, None)
    one.void = "others had 0.8 CPUs more than in the trials that held"
    assert not fired(run_with(one), "never-recovers")
