"""When the plan's rounds are cut: by the clock, and as little as it takes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.judge.slices import SLICE_S, sliced_run
from touchstone.record.store import RunStore
from touchstone.run import ending
from touchstone.run.ending import LEAST_LAPS, PlannedRounds

RATES = {"go/std": 20_000.0, "rust/std": 21_000.0}
LAPS = 12
LAP_S = 3 * SLICE_S
"""Two contenders and the tare."""


def after_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, took_s: list[float], most_s: float, planned: int = 5
) -> PlannedRounds:
    """Asked after each of these rounds, none of which was the last."""
    rounds = PlannedRounds(RunStore(tmp_path / "run"), sliced_run(RATES, rounds=planned).plan, most_s, LAPS)
    for number, seconds in enumerate(took_s, 1):
        so_far = sliced_run(RATES, rounds=number, laps=LAPS)
        monkeypatch.setattr(ending, "load_run", lambda _folder, so_far=so_far: so_far)
        assert not rounds.reached(number, seconds)
    return rounds


def test_the_first_round_has_the_least_laps_where_time_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert after_rounds(tmp_path, monkeypatch, [], most_s=100.0).laps == LEAST_LAPS
    assert after_rounds(tmp_path, monkeypatch, [], most_s=math.inf).laps is None


def test_rounds_that_fit_keep_their_laps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = after_rounds(tmp_path, monkeypatch, [25.0, 25.0], most_s=101.0)
    assert rounds.laps is None
    assert rounds.note == ""


def test_four_rounds_that_would_take_too_long_have_fewer_laps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = after_rounds(tmp_path, monkeypatch, [25.0], most_s=100.0 - 3 * 3.5 * LAP_S)
    assert rounds.laps == LAPS - 4
    assert f"some rounds have {LAPS - 4} laps instead of {LAPS}" in rounds.note
    assert "`--rounds 5` measures all of them" in rounds.note


def test_a_faster_round_gives_the_laps_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = after_rounds(tmp_path, monkeypatch, [40.0, 12.0], most_s=105.0)
    assert rounds.laps is None
    assert f"some rounds have {LEAST_LAPS} laps" in rounds.note


def test_there_is_a_least_number_of_laps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert after_rounds(tmp_path, monkeypatch, [60.0], most_s=61.0).laps == LEAST_LAPS


def test_a_fifth_round_has_its_laps_or_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    took_s = [20.0] * 4
    assert after_rounds(tmp_path, monkeypatch, took_s, most_s=101.0).laps is None
    rounds = after_rounds(tmp_path, monkeypatch, took_s[:3], most_s=99.0)
    assert rounds.reached(4, 20.0)
    assert "4 of 5 rounds were measured; `--rounds 5` measures all" in rounds.note


def test_rounds_that_were_asked_for_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = after_rounds(tmp_path, monkeypatch, [1000.0] * 4, most_s=math.inf)
    assert rounds.laps is None
    assert rounds.reached(5, 1000.0)
    assert rounds.note == ""
