"""A turn without a rest at the end of the warm-up: who takes it, and when it is asked for again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from touchstone.bench.base import Bench
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.phase.load.slices import SlicedLoads
from touchstone.record.evidence.slices import LEAST_KEPT_LAPS, SlicesEvidence
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
    once, never = {contender.name: 1, TARE: 1}, {contender.name: 0, TARE: 0}

    first = _measured(slices, bench, contender, 1)
    assert _unbroken(first) == once
    own = first[contender.name]
    (turn,) = (one for one in own.slices if one.unbroken)
    assert turn.lap is None and turn.end - turn.begin > 4 * own.slice_s
    assert own.kept is not None and own.unbroken_rate > 0
    kept = [evidence.kept or 0.0 for evidence in first.values()]
    assert ("load" in slices.keep_their_rate) is (min(kept) >= 0.8)

    slices.keep_their_rate.clear()
    assert _unbroken(_measured(slices, bench, contender, 2)) == once
    slices.keep_their_rate.add("load")
    assert _unbroken(_measured(slices, bench, contender, 2)) == never
    slices.keep_their_rate.clear()
    assert _unbroken(_measured(slices, bench, contender, 3)) == never
