from touchstone.judge.judge import judge

from ..capacities import capacity_run, search, trial, with_search
from ..sound import fired


def test_an_objective_that_holds_at_the_engines_limit() -> None:
    found = search(9_000.0, "generator")
    found.trials += [trial(9_200.0, None, why="the engine was busy for 99 % of the time", busy=0.3)]
    run = with_search(found, 9_000.0)
    (finding,) = fired(run, "capacity-beyond-generator")
    assert finding.statement.startswith("the capacity is at least 9,000/s")
    assert "busy for 99 %" in finding.statement
    (ratio,) = [c for c in judge(run).comparisons if c.figure == "capacity"]
    assert ratio.outcome == "undecided", "nobody knows how much more it bears"


def test_a_capacity_near_the_null_servers_with_cpu_to_spare() -> None:
    found = search(9_000.0, tare=9_500.0)
    for one in found.trials:
        one.server_busy = 0.5
    assert fired(with_search(found, 9_000.0), "capacity-beyond-generator")


def test_a_server_whose_own_cpus_are_full_is_its_own_limit() -> None:
    assert not fired(with_search(search(9_000.0, tare=9_500.0), 9_000.0), "capacity-beyond-generator")
    assert not fired(capacity_run({"go/std": [9_000.0] * 3}), "capacity-beyond-generator")
