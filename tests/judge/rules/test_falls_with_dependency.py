import pytest

from touchstone.record.evidence.disturb import Meanwhile

from ..disturbances import OTHERS, disturbed
from ..sound import fired


def others(errors: int, p90: float) -> Meanwhile:
    return Meanwhile(names=["ping"], sent=200, errors=errors, p90=p90, p99=p90)


@pytest.mark.parametrize("meanwhile", [others(10, 0.002), others(0, 0.5)])
def test_requests_that_need_nothing_and_fail_or_wait_are_named(meanwhile: Meanwhile) -> None:
    (finding,) = fired(disturbed(others=meanwhile), "falls-with-dependency")
    assert "of the requests that do not need database fail" in finding.statement


@pytest.mark.parametrize("meanwhile", [others(9, 0.002), others(0, 0.49), Meanwhile()])
def test_a_few_errors_and_short_waits_are_the_machine_s(meanwhile: Meanwhile) -> None:
    assert not fired(disturbed(others=meanwhile), "falls-with-dependency")


def test_a_service_that_is_slow_anyway_is_held_to_its_own_times() -> None:
    calm = {"database": OTHERS.model_copy(update={"p90": 0.06})}
    assert not fired(disturbed(others=others(0, 0.55), calm_others=calm), "falls-with-dependency")
