from touchstone.judge.judge import judge

from ..capacities import search, trial, with_search
from ..sound import fired


def test_a_wide_interval_widens_the_comparison() -> None:
    run = with_search(search(9_000.0, "trials", width=0.4), 9_000.0)
    (finding,) = fired(run, "capacity-uncertain")
    assert "between 7,200 and 10,800/s" in finding.statement
    ratio = next(c for c in judge(run).comparisons if c.figure == "capacity")
    assert ratio.low is not None
    assert ratio.sampled_low is not None
    assert ratio.low < ratio.sampled_low


def test_trials_that_bursts_made_void_are_counted() -> None:
    found = search(9_000.0, "trials", width=0.4)
    found.trials += [trial(9_100.0, None, why="others had 1.2 CPUs more") for _ in range(5)]
    for one in found.trials:
        one.void = "others" if one.held is None else None
    (finding,) = fired(with_search(found, 9_000.0), "capacity-uncertain")
    assert "after 8 trials" in finding.statement
    assert "5 trials are void" in finding.statement


def test_an_interval_below_the_margin_is_fine() -> None:
    assert not fired(with_search(search(9_000.0, "trials", width=0.08), 9_000.0), "capacity-uncertain")
