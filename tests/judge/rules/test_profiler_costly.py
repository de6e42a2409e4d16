from ..profiles import BASE, evidence, profile_run
from ..sound import fired

TOTAL = sum(us for _, us in BASE)


def test_a_profiler_that_costs_more_than_five_percent_is_told() -> None:
    run = profile_run({"go/std": [evidence(BASE, plain=TOTAL / 1.06)] * 3})
    (finding,) = fired(run, "profiler-costly")
    assert "6 % more CPU" in finding.statement


def test_one_that_costs_less_is_not() -> None:
    assert not fired(profile_run({"go/std": [evidence(BASE, plain=TOTAL / 1.04)] * 3}), "profiler-costly")
