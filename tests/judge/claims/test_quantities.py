"""What a quantity reads from a sample's evidence."""

from __future__ import annotations

import pytest

from tests.judge.sound import first_load, result_of, sound_run
from touchstone.judge.claims.quantities import QUANTITIES
from touchstone.record.engine import Point
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.evidence.slices import Slice, SlicesEvidence

RATE = QUANTITIES["warm_up_rate"]


def turn(begin: float, ok: int) -> Slice:
    return Slice(index=0, lap_phase="warmup", begin=begin, sending_end=begin + 0.5, end=begin + 0.5, ok=ok)


def test_in_slices_the_others_turns_are_not_its_time() -> None:
    sample = first_load(sound_run())
    turns = [turn(0.0, 5_000), turn(10.0, 15_000), turn(20.0, 90_000)]
    slices = SlicesEvidence(order=["go/std"], slice_s=0.5, slices=turns)
    sample.evidence = LoadEvidence(result=sample.result, slices=slices)
    assert RATE.read(sample) == pytest.approx(20_000)


def test_in_a_whole_window_the_first_of_the_series_count() -> None:
    sample = first_load(sound_run())
    counts = [4_000, 8_000, 8_000, 50_000]
    result_of(sample).series = [Point(t=number + 1.0, phase="warmup", ok=ok) for number, ok in enumerate(counts)]
    assert RATE.read(sample) == pytest.approx(20_000 / 3)
    result_of(sample).series = result_of(sample).series[:2]
    assert RATE.read(sample) == pytest.approx(6_000)


@pytest.mark.parametrize("name", ["dependency_ceiling", "dependency_cpu_share", "warm_up_rate"])
def test_what_slows_a_service_moves_these_as_it_moves_throughput(name: str) -> None:
    """So that a doubt of known size widens their ratio to it, and does not bar it."""
    assert QUANTITIES[name].moved_as == "throughput"
