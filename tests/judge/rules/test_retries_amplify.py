import pytest

from ..disturbances import disturbed
from ..sound import fired


@pytest.mark.parametrize(("turns", "connects", "factor"), [(150.0, 0.0, "1.5"), (300.0, 0.0, "3"), (90.0, 450.0, "3")])
def test_more_work_for_a_failing_dependency_is_named_by_its_factor(turns: float, connects: float, factor: str) -> None:
    # 300 requests that need it within 2 s: 150 per second.
    (finding,) = fired(disturbed(turns_per_s=turns, connects_per_s=connects), "retries-amplify")
    assert finding.statement == f"while database stalls, the service asks database {factor} times as often as before"


def test_a_few_repetitions_are_no_storm() -> None:
    assert not fired(disturbed(turns_per_s=149.0, connects_per_s=140.0), "retries-amplify")


def test_a_service_that_always_connects_is_held_to_its_own_rate() -> None:
    run = disturbed(turns_per_s=100.0, connects_per_s=450.0, calm_connects_per_s={"database": 400.0})
    assert not fired(run, "retries-amplify")


def test_a_dependency_that_is_hardly_asked_is_left_alone() -> None:
    assert not fired(disturbed(turns_per_s=9.0, calm_turns_per_s={"database": 1.0}), "retries-amplify")


def test_without_a_relay_nothing_is_counted() -> None:
    assert not fired(disturbed(), "retries-amplify")
