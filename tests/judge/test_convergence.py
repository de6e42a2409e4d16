"""A ratio on its way to a decision: its last step equals the judge's, and its interval shrinks."""

from __future__ import annotations

import pytest

from touchstone.judge.comparison.convergence import ConvergencePoint, convergence
from touchstone.judge.judge import judge
from touchstone.record.run import Run
from touchstone.record.sample import Sample

from .slices import sliced_run

RATES = {"go/plain": 10_000.0, "rust/plain": 11_000.0}


def path(run: Run) -> list[ConvergencePoint]:
    return convergence(rounds_of(run, "rust/plain"), rounds_of(run, "go/plain"), "throughput", 0.95)


def rounds_of(run: Run, contender: str) -> dict[int, Sample]:
    return {s.round: s for s in run.samples if s.contender == contender and s.phase == "load" and s.round}


def test_the_last_step_is_what_the_judge_decides_on() -> None:
    run = sliced_run(RATES, luck=0.01)
    last = path(run)[-1]
    (decided,) = (c for c in judge(run).comparisons if c.figure == "throughput")
    assert last.of_rounds and last.known is not None
    assert (last.known.point, last.known.low, last.known.high) == pytest.approx(
        (decided.ratio, decided.low, decided.high)
    )


def test_each_lap_of_each_round_is_a_step_and_the_first_of_them_know_nothing_yet() -> None:
    steps = path(sliced_run(RATES, rounds=3, laps=6))
    assert [(step.round, step.lap) for step in steps] == [(r, lap) for r in (1, 2, 3) for lap in range(6)]
    assert [step.known is None for step in steps[:5]] == [True, True, True, False, False]


def test_laps_narrow_the_interval_within_a_round() -> None:
    steps = path(sliced_run(RATES, rounds=1, laps=40, noise=0.05))
    early, late = steps[7].known, steps[-1].known
    assert early is not None and late is not None
    assert late.high / late.low < early.high / early.low


def test_from_the_second_round_on_the_luck_of_processes_is_in_it() -> None:
    steps = path(sliced_run(RATES, rounds=5, noise=0.001, luck=0.05))
    of_laps = next(step.known for step in steps if step.round == 1 and step.lap == 11)
    of_rounds = next(step.known for step in steps if step.round == 2 and step.lap == 11)
    assert [step.of_rounds for step in steps if step.lap == 11] == [False, True, True, True, True]
    assert of_laps is not None and of_rounds is not None
    assert of_rounds.high / of_rounds.low > of_laps.high / of_laps.low


def test_a_figure_that_slices_do_not_know_has_no_path() -> None:
    run = sliced_run(RATES)
    assert convergence(rounds_of(run, "rust/plain"), rounds_of(run, "go/plain"), "memory_peak", 0.95) == []
