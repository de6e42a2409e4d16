import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity

from ..slices import resting_run
from ..sound import codes, fired


@pytest.mark.parametrize(("share", "severity"), [(0.045, Severity.NOTE), (0.055, Severity.SUSPECT)])
def test_a_contender_that_puts_work_off_is_named_with_what_it_may_have_hidden(share: float, severity: Severity) -> None:
    run = resting_run(lambda name: share if name == "rust/plain" else 0.0)
    found = fired(run, "works-while-off")
    assert {f.contender for f in found} == {"rust/plain"}
    assert found[0].severity is severity
    assert found[0].doubt is not None and found[0].doubt.slower == pytest.approx(1 + share)


def test_timers_of_idle_runtimes_are_silent() -> None:
    assert codes(resting_run(lambda _name: 0.015)) == set()


def test_the_one_that_works_while_off_is_not_called_faster() -> None:
    run = resting_run(lambda name: 0.5 if name == "rust/plain" else 0.0)
    (found,) = (c for c in judge(run).comparisons if c.figure == "throughput")
    assert found.low is not None and found.low < 0.75
