"""Who has served more in total since exec, from when on, and what the rounds say of it together."""

from __future__ import annotations

import pytest

from touchstone.judge.comparison.crossing import overtakes
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Crossing
from touchstone.record.sample import Sample

from .peaks import peak_run, peak_sample, rates

NATIVE = rates((40, 8000))
JIT = rates((10, 2000), (30, 12_000))
"""It has lost 60,000 by its tenth second, and wins back 4,000 a second from then on: level after 25 s."""


def starts(contender: str, *rounds: list[float], begins: float = 0.0) -> list[Sample]:
    return [peak_sample(contender, r, by_half_second, begins) for r, by_half_second in enumerate(rounds, start=1)]


def crossing(one: list[Sample], other: list[Sample]) -> Crossing:
    (found,) = judge(peak_run({one[0].contender: one, other[0].contender: other})).crossings
    return found


def test_the_second_is_the_first_from_which_the_lead_is_kept() -> None:
    assert overtakes([0, 1, 5, 9], [2, 3, 4, 5]) == 3
    assert overtakes([3, 1, 5], [2, 3, 4]) == 3
    assert overtakes([3, 4, 5], [2, 3, 4]) == 0
    assert overtakes([1, 2, 4], [2, 3, 4]) is None
    assert overtakes([], []) is None


def test_a_tie_is_no_lead() -> None:
    assert overtakes([1, 4, 6], [2, 4, 5]) == 3


def test_a_jit_overtakes_a_native_program() -> None:
    found = crossing(starts("kotlin/native", *[NATIVE] * 5), starts("kotlin/jvm", *[JIT] * 5))
    assert (found.contender, found.other, found.outcome) == ("kotlin/jvm", "kotlin/native", "overtakes")
    assert found.median_s == pytest.approx(25, abs=1)
    assert found.low_s is not None
    assert found.sentence.startswith("kotlin/jvm has served more in total than kotlin/native after 2")
    assert "5 rounds" in found.sentence


def test_one_that_is_never_overtaken_is_said_to_be_so() -> None:
    slow = rates((10, 2000), (30, 8000))
    found = crossing(starts("kotlin/jvm", *[slow] * 3), starts("kotlin/native", *[NATIVE] * 3))
    assert found.outcome == "ahead throughout"
    assert found.sentence == "kotlin/jvm has not served as much in total as kotlin/native within 40 s (3 rounds)."


def test_rounds_that_differ_on_the_winner_decide_nothing() -> None:
    late = rates((30, 2000), (10, 12_000))
    found = crossing(starts("kotlin/native", *[NATIVE] * 3), starts("kotlin/jvm", JIT, late, JIT))
    assert found.outcome == "undecided"
    assert found.median_s is None
    assert "is ahead at the end in 2 of 3 rounds" in found.sentence


def test_an_invalid_start_has_no_crossing() -> None:
    broken = starts("kotlin/jvm", *[JIT] * 3)
    for sample in broken:
        sample.process.server_exit = "exited with code 1"
    found = crossing(starts("kotlin/native", *[NATIVE] * 3), broken)
    assert found.verdict == "invalid"
    assert "cannot be compared" in found.sentence
