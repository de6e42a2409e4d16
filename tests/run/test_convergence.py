"""What a run tells of its ratios while it goes on."""

from __future__ import annotations

from collections.abc import Iterator

from tests.judge.slices import sliced_run
from touchstone.record.run import Run
from touchstone.record.sample import Sample
from touchstone.run.convergence import ConvergenceWatcher

RATES = {"go/plain": 10_000.0, "rust/plain": 12_000.0}


def by_round(run: Run) -> Iterator[list[Sample]]:
    for number in range(1, run.plan.rounds + 1):
        yield [s for s in run.samples if s.phase == "load" and s.round == number and s.slices]


def test_each_lap_tells_the_ratio_to_the_baseline_with_its_interval() -> None:
    run = sliced_run(RATES)
    converging = ConvergenceWatcher(run.plan)
    first = next(by_round(run))
    told = converging.after_lap(first)
    assert told.startswith((": rust/plain 1.19", ": rust/plain 1.20")) and " to " in told
    assert "go/plain" not in told


def test_a_round_says_what_is_decided_only_where_rounds_decide() -> None:
    run = sliced_run(RATES)
    converging = ConvergenceWatcher(run.plan)
    told = []
    for samples in by_round(run):
        converging.after_lap(samples)
        told.append(list(converging.after_round()))
    assert all(len(lines) == 1 and "over go/plain" in lines[0] for lines in told)
    assert [lines[0].endswith("decided") for lines in told] == [False, True, True, True, True]


def test_a_failed_contender_is_left_out() -> None:
    run = sliced_run(RATES)
    converging = ConvergenceWatcher(run.plan)
    samples = next(by_round(run))
    for sample in samples:
        if sample.contender == "rust/plain":
            sample.evidence = None
    assert converging.after_lap(samples) == ""
    assert list(converging.after_round()) == []


def test_the_rate_of_an_open_loop_is_not_compared() -> None:
    run = sliced_run(RATES)
    converging = ConvergenceWatcher(run.plan)
    samples = next(by_round(run))
    for sample in samples:
        sample.spec.loop = "open"
    assert converging.after_lap(samples) == ""
    assert list(converging.after_round()) == []
