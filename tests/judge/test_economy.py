"""Which variance is whose: that of laps, and that of the luck that processes are born with."""

from __future__ import annotations

from tests.judge.slices import sliced_run
from touchstone.judge.comparison.economy import Spread, spread
from touchstone.record.run import Run

RATES = {"go/std": 20_000.0, "rust/std": 21_000.0}


def seen(run: Run) -> Spread:
    found = spread(run)
    assert found is not None
    return found


def test_noise_of_slices_is_that_of_laps() -> None:
    found = seen(sliced_run(RATES, rounds=20, laps=30, noise=0.05))
    # Two slices of 5 % each: a ratio of 7 %, whose variance is 0.005.
    assert 0.0035 < found.within < 0.0075
    assert found.between < found.within / 10
    assert found.laps == 30


def test_luck_of_processes_is_that_of_rounds() -> None:
    found = seen(sliced_run(RATES, rounds=30, laps=12, noise=0.002, luck=0.05))
    assert 0.002 < found.between < 0.009
    assert found.within < found.between / 10


def test_two_rounds_say_nothing() -> None:
    assert spread(sliced_run(RATES, rounds=2)) is None
