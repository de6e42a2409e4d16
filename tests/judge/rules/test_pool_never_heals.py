from touchstone.record.evidence.disturb import Meanwhile

from ..disturbances import disturbed
from ..sound import fired


def at_the_end(errors: int) -> dict[str, Meanwhile]:
    return {"database": Meanwhile(names=["order"], sent=100, errors=errors)}


def test_requests_that_fail_to_the_end_are_named_with_the_fault() -> None:
    (finding,) = fired(disturbed(recovery_s=None, end_needing=at_the_end(5)), "pool-never-heals")
    assert "5 % of the requests that need database still failed" in finding.statement
    assert "5 s after the fault" in finding.statement


def test_a_few_errors_at_the_end_are_no_broken_pool() -> None:
    assert not fired(disturbed(recovery_s=None, end_needing=at_the_end(4)), "pool-never-heals")


def test_a_service_that_recovered_and_met_another_fault_is_left_alone() -> None:
    assert not fired(disturbed(recovery_s=0.2, end_needing=at_the_end(50)), "pool-never-heals")


def test_a_process_that_ended_has_no_pool() -> None:
    run = disturbed(recovery_s=None, end_needing=at_the_end(100), died="exited with code 1")
    assert not fired(run, "pool-never-heals")
