"""Load without a rest at the end of the warm-up: who is loaded, for how long, and when it is done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from touchstone.bench.base import Bench
from touchstone.engine.slices import SlicesSession, Turn, TurnRecord
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.phase.load.slices import SlicedLoads
from touchstone.phase.load.without_rest import load_without_rest
from touchstone.plan.preset import PROFILES
from touchstone.record.evidence.slices import LEAST_KEPT_LAPS, SliceLatency, SlicesEvidence
from touchstone.record.sample import TARE

from .test_capacity_search import keeper

_PING = {"name": "ping", "target": "/ping", "expect": {"body": "pong"}}


def _measured(slices: SlicedLoads, bench: Bench, contender: Contender, round_number: int) -> dict[str, SlicesEvidence]:
    samples = [s for found in slices.measure(bench, [contender], round_number) for s in found]
    assert [s.failure for s in samples] == [None, None]
    return {s.contender: s.slices for s in samples if s.slices is not None}


def _unbroken(found: dict[str, SlicesEvidence]) -> dict[str, int]:
    return {name: sum(one.unbroken for one in evidence.slices) for name, evidence in found.items()}


def test_all_take_it_in_the_first_round_and_again_only_where_somebody_is_in_doubt(tmp_path: Path) -> None:
    load = Load.model_validate({"title": "Ping", "connections": 4, "requests": [_PING]})
    bench, contender = keeper(tmp_path, load)
    bench = replace(bench, profile=replace(bench.profile, laps=LEAST_KEPT_LAPS))
    slices = SlicedLoads(bench.loads, {})
    once, never = {contender.name: 3, TARE: 3}, {contender.name: 0, TARE: 0}

    first = _measured(slices, bench, contender, 1)
    assert _unbroken(first) == once
    own = first[contender.name]
    assert all(one.lap is None for one in own.slices if one.unbroken)
    assert own.unbroken_s > 4 * own.slice_s
    assert own.kept is not None and own.unbroken_rate > 0
    kept = [evidence.kept or 0.0 for evidence in first.values()]
    assert ("load" in slices.keep_their_rate) is (min(kept) >= 0.8)

    slices.keep_their_rate.clear()
    assert _unbroken(_measured(slices, bench, contender, 2)) == once
    slices.keep_their_rate.add("load")
    assert _unbroken(_measured(slices, bench, contender, 2)) == never
    slices.keep_their_rate.clear()
    assert _unbroken(_measured(slices, bench, contender, 3)) == never


@dataclass
class _Session:
    """A session whose contender answers as `rate` says of the number of its turn."""

    rate: Callable[[int], float]
    p50_s: Callable[[int], float] | None = None
    """Median latency by the number of the turn, in an open loop."""
    asked: list[Turn] = field(default_factory=list)

    def turns(self, phase: str, turns: Sequence[Turn]) -> list[TurnRecord]:
        assert phase == "warmup"
        (turn,) = turns
        self.asked.append(turn)
        return [self.record(len(self.asked) - 1, turn.seconds)]

    def record(self, number: int, seconds: float = 0.5) -> TurnRecord:
        begin, ok = number * seconds, round(self.rate(number) * seconds)
        p50 = self.p50_s(number) if self.p50_s else None
        return TurnRecord(
            contender=0,
            index=number,
            lap_phase="warmup",
            begin=begin,
            sending_end=begin + seconds,
            end=begin + seconds,
            sent=max(1, ok),
            completed=ok,
            ok=ok,
            offered=1_000.0 if p50 else None,
            latency=SliceLatency(count=ok, p50=p50) if p50 else None,
        )


def _stretch(session: _Session, seconds: float = 2.0, usual: float = 1_000.0) -> list[TurnRecord]:
    before = [replace(session, rate=lambda _: usual, p50_s=session.p50_s and (lambda _: 0.001)).record(0)]
    return load_without_rest(cast(SlicesSession, session), {0: 0.25}, seconds, {0: before})


def test_one_that_keeps_its_pace_has_one_stretch() -> None:
    session = _Session(lambda _: 990.0)
    assert [record.unbroken for record in _stretch(session)] == [True] * 4
    assert {turn.seconds for turn in session.asked} == {0.5}


@pytest.mark.parametrize("later", [1_000.0, 200.0])
def test_one_in_doubt_has_a_second_stretch_that_counts_in_place_of_the_first(later: float) -> None:
    records = _stretch(_Session(lambda number: 500.0 if number < 4 else later))
    assert [number for number, one in enumerate(records) if one.unbroken] == [4, 5, 6, 7]
    assert len(records) == 8


def test_an_open_loop_is_in_doubt_by_its_latency() -> None:
    assert len(_stretch(_Session(lambda _: 1_000.0, p50_s=lambda _: 0.001))) == 4
    records = _stretch(_Session(lambda _: 1_000.0, p50_s=lambda number: 0.1 if number < 4 else 0.001))
    assert [number for number, one in enumerate(records) if one.unbroken] == [4, 5, 6, 7]


def test_one_that_falls_silent_is_not_waited_for_to_the_end() -> None:
    assert len(_stretch(_Session(lambda _: 0.0), seconds=60.0)) <= 4


def test_how_long_a_stretch_lasts() -> None:
    load = Load.model_validate({"title": "Ping", "requests": [_PING]})
    lengths = {name: profile.unbroken_of(load) for name, profile in PROFILES.items()}
    assert lengths == {"quick": 1.5, "normal": 6.0, "thorough": pytest.approx(18.0)}
