"""In which rounds the twin takes part: the first two, and then those that its share of the time allows."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.bench.test_at_once import contender
from tests.judge.slices import SLICE_S, sliced_run
from tests.phase.test_peak import bench_of
from touchstone.plan.laps import twin_laps
from touchstone.record.sample import Sample
from touchstone.run.twin import MOST_SHARE, TwinTurns, no_room

NAME = "twin/plain"
LAPS, ROUNDS = 8, 40


@cache
def all_samples(*, twin: bool) -> list[Sample]:
    rates = {"base/plain": 1000.0, "head/plain": 1000.0} | ({NAME: 1000.0} if twin else {})
    return sliced_run(rates, rounds=ROUNDS, laps=LAPS).samples


def samples(number: int, *, twin: bool) -> list[Sample]:
    return [sample for sample in all_samples(twin=twin) if sample.round == number]


def shares(overhead_s: float, rounds: int) -> tuple[list[int], TwinTurns]:
    """The rounds with the twin; a round costs `overhead_s` for each contender, and its slices."""
    turns, taken = TwinTurns(NAME), []
    for number in range(1, rounds + 1):
        own = turns.takes_part()
        if own:
            taken.append(number)
        found = samples(number, twin=own)
        slices_s = SLICE_S * sum(len(s.slices.slices) for s in found if s.slices)
        contenders = 3 if own else 2
        turns.after_round(found, contenders, slices_s + contenders * overhead_s)
    return taken, turns


@pytest.mark.parametrize("overhead_s", [0.0, 1.0, 30.0])
def test_the_first_two_rounds_have_it_and_over_many_it_keeps_to_its_share(overhead_s: float) -> None:
    taken, turns = shares(overhead_s, ROUNDS)
    assert taken[:2] == [1, 2]
    assert len(taken) > 10
    share = float(turns.note.rsplit("took ", 1)[1].split()[0]) / 100
    assert MOST_SHARE / 2 < share <= MOST_SHARE
    assert f"{len(taken)} of {ROUNDS} rounds" in turns.note


def test_there_is_room_only_where_a_load_is_measured(tmp_path: Path) -> None:
    bench, contenders = bench_of(tmp_path), [contender("base", None), contender("twin", None)]
    bench = replace(bench, loads=bench.scenario.loads)
    assert no_room(bench, ["boot", "load"], contenders) is None
    assert no_room(bench, ["boot"], contenders) == "no load is measured, in which it could take part"
    whole = {name: load.model_copy(update={"whole_windows": True}) for name, load in bench.loads.items()}
    assert "no load has slices" in (no_room(replace(bench, loads=whole), ["load"], contenders) or "")


@pytest.mark.parametrize(("laps", "own"), [(1, 1), (4, 4), (5, 4), (8, 4), (9, 4), (24, 12), (97, 48)])
def test_the_twin_has_half_of_the_laps_and_enough_for_an_effect(laps: int, own: int) -> None:
    assert twin_laps(laps) == own
