import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run

from ..slices import EQUAL_RATES, sliced_run
from ..sound import codes, fired


def _run(extra_s: float, *, usual_s: float = 0.0) -> Run:
    """The first generation of one contender takes this much longer than the later ones; of the others, `usual_s`."""
    run = sliced_run(EQUAL_RATES)
    for sample in run.samples:
        for one in sample.slices.slices if sample.slices else []:
            assert one.generations is not None and sample.spec.connections is not None
            each = sample.spec.connections * one.generations.seconds / one.generations.responses
            one.generations.first_s = each + (extra_s if sample.contender == "rust/plain" else usual_s)
    return run


@pytest.mark.parametrize(("extra_s", "named"), [(0.04, True), (0.011, True), (0.009, False)])
def test_a_contender_whose_first_responses_after_a_rest_are_slow_is_named(extra_s: float, named: bool) -> None:
    found = fired(_run(extra_s), "slow-after-rest")
    assert {(f.contender, f.severity) for f in found} == ({("rust/plain", Severity.NOTE)} if named else set())


def test_a_machine_on_which_all_are_slow_at_first_accuses_nobody() -> None:
    assert "slow-after-rest" not in codes(_run(0.05, usual_s=0.03))


def test_records_without_the_first_generation_say_nothing() -> None:
    assert "slow-after-rest" not in codes(sliced_run(EQUAL_RATES))
