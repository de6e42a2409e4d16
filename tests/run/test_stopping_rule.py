"""When the plan's rounds are cut: by the clock, and as little as it takes."""

from __future__ import annotations

import math

from tests.judge.slices import SLICE_S, sliced_run
from touchstone.record.run import Run
from touchstone.run.stopping_rule import LEAST_LAPS, PlannedRounds

RATES = {"go/std": 20_000.0, "rust/std": 21_000.0}
LAPS = 12
LAP_S = 3 * SLICE_S
"""Two contenders and the tare."""


def so_far(rounds: int) -> Run:
    return sliced_run(RATES, rounds=rounds, laps=LAPS)


def after_rounds(took_s: list[float], most_s: float, planned: int = 5) -> PlannedRounds:
    """Asked after each of these rounds, none of which was the last."""
    rounds = PlannedRounds(sliced_run(RATES, rounds=planned).plan, most_s, LAPS)
    for number, seconds in enumerate(took_s, 1):
        assert not rounds.reached(so_far(number), number, seconds)
    return rounds


def test_the_first_round_has_the_least_laps_where_time_counts() -> None:
    assert after_rounds([], most_s=100.0).laps == LEAST_LAPS
    assert after_rounds([], most_s=math.inf).laps is None


def test_rounds_that_fit_keep_their_laps() -> None:
    rounds = after_rounds([25.0, 25.0], most_s=101.0)
    assert rounds.laps is None
    assert rounds.note == ""


def test_four_rounds_that_would_take_too_long_have_fewer_laps() -> None:
    rounds = after_rounds([25.0], most_s=100.0 - 3 * 3.5 * LAP_S)
    assert rounds.laps == LAPS - 4
    assert f"some rounds have {LAPS - 4} laps instead of {LAPS}" in rounds.note
    assert "`--rounds 5` measures all" in rounds.note


def test_a_faster_round_gives_the_laps_back() -> None:
    rounds = after_rounds([40.0, 12.0], most_s=105.0)
    assert rounds.laps is None
    assert f"some rounds have {LEAST_LAPS} laps" in rounds.note


def test_there_is_a_least_number_of_laps() -> None:
    assert after_rounds([60.0], most_s=61.0).laps == LEAST_LAPS


def test_a_fifth_round_has_its_laps_or_is_left_out() -> None:
    took_s = [20.0] * 4
    assert after_rounds(took_s, most_s=101.0).laps is None
    rounds = after_rounds(took_s[:3], most_s=99.0)
    assert rounds.reached(so_far(4), 4, 20.0)
    assert "4 of 5 rounds were measured; `--rounds 5` measures all" in rounds.note


def test_rounds_that_were_asked_for_are_whole() -> None:
    rounds = after_rounds([1000.0] * 4, most_s=math.inf)
    assert rounds.laps is None
    assert rounds.reached(so_far(5), 5, 1000.0)
    assert rounds.note == ""
