"""Starts in turn: each pair of neighbours is a value of its own."""

from __future__ import annotations

import math
import random

import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison, Outcome
from touchstone.record.boot_result import BootRun
from touchstone.record.evidence.boot import BootEvidence
from touchstone.record.run import Run

from .sound import sound_run

RATIO = 1.3


def started(*, in_turn: bool, rounds: int = 3, starts: int = 3, noise: float = 0.02) -> Run:
    """Starts of 100 ms and of 130 ms, on a machine whose pace changes twofold from start to start."""
    run = sound_run(contenders={"go/std": 20_000.0, "rust/hyper": 20_000.0}, rounds=rounds)
    boots = [s for s in run.samples if s.phase == "boot"]
    run.samples = [s for s in run.samples if s.phase != "boot"]
    dice = random.Random(5)
    for number in range(1, rounds + 1):
        pace = [dice.uniform(1, 2) for _ in range(starts)]
        for sample, middle in zip(boots, (0.1, 0.1 * RATIO), strict=True):
            times = [middle * p * dice.lognormvariate(0, noise) for p in pace]
            runs = [BootRun(first_response_s=t, rss=2**24, footprint=2**24, processes=1) for t in times]
            made = sample.model_copy(deep=True, update={"id": f"{sample.id}-{number}", "round": number})
            made.evidence = BootEvidence(runs=runs, in_turn=in_turn)
            made.figures = {"boot_first_response": sorted(times)[len(times) // 2]}
            run.samples.append(made)
    return run


def compared(run: Run) -> Comparison:
    return next(c for c in judge(run).comparisons if c.figure == "boot_first_response")


def test_what_the_machine_does_to_neighbours_cancels_start_by_start() -> None:
    turns, blocks = compared(started(in_turn=True)), compared(started(in_turn=False))
    assert (turns.starts, turns.rounds, blocks.starts) == (9, 3, 0)
    assert turns.outcome is Outcome.WORSE and turns.ratio == pytest.approx(RATIO, rel=0.03)
    assert turns.low and turns.high and blocks.low and blocks.high
    assert math.log(turns.high / turns.low) < math.log(blocks.high / blocks.low)
    assert "3 rounds with 9 starts" in turns.sentence


def test_one_round_of_starts_in_turn_is_enough_for_an_interval() -> None:
    assert compared(started(in_turn=True, rounds=1, starts=5)).low is not None


def test_what_is_missing_is_told_in_rounds_and_not_in_starts() -> None:
    open_ = compared(started(in_turn=True, noise=0.6))
    assert open_.outcome is Outcome.UNDECIDED
    assert open_.more_rounds is None or open_.more_rounds >= 1
