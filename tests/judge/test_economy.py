"""Which variance is whose: that of laps, and that of the luck that processes are born with."""

from __future__ import annotations

from tests.judge.slices import sliced_run
from touchstone.judge.comparison.variance import VarianceComponents, spread
from touchstone.record.run import Run

RATES = {"go/std": 20_000.0, "rust/std": 21_000.0}


def seen(run: Run) -> VarianceComponents:
    found = spread(run)
    assert found is not None
    return found


def test_noise_of_slices_is_that_of_laps() -> None:
    found = seen(sliced_run(RATES, rounds=20, laps=30, noise=0.05))
    # Two slices of 5 % each: a ratio of 7 %, whose variance is 0.005.
    assert 0.0035 < found.within < 0.0075
    assert found.between < found.within / 10
    assert found.laps == (30,) * 20


def test_luck_of_processes_is_that_of_rounds() -> None:
    found = seen(sliced_run(RATES, rounds=30, laps=12, noise=0.002, luck=0.05))
    assert 0.002 < found.between < 0.009
    assert found.within < found.between / 10


def test_two_rounds_say_nothing() -> None:
    assert spread(sliced_run(RATES, rounds=2)) is None


def worth(time_s: float = 600.0, round_s: float = 10.0, *, between: float = 1e-4, within: float = 1e-3) -> int:
    return VarianceComponents(between, within, lap_s=1.0, laps=(8, 8, 8)).worthwhile_laps(time_s, round_s, 0.95)


def test_dear_rounds_and_noisy_laps_ask_for_more_laps() -> None:
    assert worth(round_s=80.0) > worth()
    assert worth(within=1e-1) > worth()
    assert worth(between=1.0, within=1e-6) == 6


def test_one_long_round_is_not_worth_several_short_ones() -> None:
    # However the laps scatter: two more rounds would leave Student's t at four degrees of freedom.
    assert worth(time_s=200.0, between=0.0, within=1.0) < 40


def test_what_is_left_for_no_whole_round_asks_for_the_least() -> None:
    assert worth(time_s=12.0) == 6
