"""Capacities are judged as other figures: by rounds, with an interval of their ratio."""

from __future__ import annotations

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Outcome

from .capacities import capacity_run


def test_the_ratio_of_two_capacities_has_an_interval_and_decides() -> None:
    run = capacity_run({"go/std": [9_000.0, 9_050.0, 8_990.0], "rust/std": [12_000.0, 12_080.0, 12_010.0]})
    (comparison,) = [c for c in judge(run).comparisons if c.figure == "capacity"]
    assert comparison.outcome is Outcome.BETTER
    assert comparison.low is not None
    assert comparison.low > 1.3
    assert comparison.sentence.startswith("capacity of rust/std is 33 % higher than that of go/std, which is better")
