from touchstone.judge.judge import judge

from ..capacities import capacity_run, search, with_search
from ..sound import fired


def test_an_objective_that_nothing_meets() -> None:
    run = with_search(search(None, "nothing holds"), None)
    (finding,) = fired(run, "objective-not-met")
    assert "missed even at 100/s" in finding.statement
    assert "p99 was 200 ms" in finding.statement
    values = next(e for e in judge(run).estimates if e.figure == "capacity" and e.contender == "go/std").values
    assert len(values) == 2


def test_an_objective_that_is_met_is_none() -> None:
    assert not fired(capacity_run({"go/std": [9_000.0] * 3}), "objective-not-met")
