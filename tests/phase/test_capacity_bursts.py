"""Searches next to other work: a burst of it decides no knee, and work that is always there is part of the machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from benchmarks.calibration.limited import LOAD, found

from touchstone.contract.values import fresh_of
from touchstone.engine.job import watch
from touchstone.engine.protocol import LoadJob
from touchstone.manifest.objective import parse_objective
from touchstone.phase.capacity.contender_search import ContenderSearch, SearchBudget, TrialTarget
from touchstone.phase.capacity.disturbance import PATIENCE, TrialDisturbance
from touchstone.record.distribution import Distribution
from touchstone.record.engine import Counts, LoadResult, Machine, Window
from touchstone.record.evidence.capacity import CapacityTrial

Others = Callable[[int], float]
"""How many CPUs others have in a trial, by its number."""
KNEE = 1_500.0
TRIALS = 40


def machine(others: Others) -> Callable[[LoadJob], LoadResult]:
    """What the engine reports of a server that serves `KNEE`, and half of it while others have half a CPU."""
    count = iter(range(10_000))

    def put_load(job: LoadJob) -> LoadResult:
        loop, seconds, taken = job["loop"], job["duration_s"], others(next(count))
        assert loop["kind"] == "open"
        late = loop["rate"] > (KNEE / 2 if taken > 0.5 else KNEE)
        sent = int(loop["rate"] * seconds)
        return LoadResult(
            window=Window(measured_s=seconds),
            counts=Counts(sent=sent, completed=sent, ok=sent),
            latency=Distribution(count=sent, p99=0.2 if late else 0.01),
            machine=Machine(other_cpu_s=taken * seconds, steal_s=0.0),
        )

    return put_load


def searched(others: Others) -> ContenderSearch:
    """A search on that machine, at its end."""
    seat = ContenderSearch(
        name="modelled",
        target=TrialTarget("http://127.0.0.1:1", watch(1, [], [], after_s=0.0), 1),
        load=LOAD,
        objective=parse_objective("p99 < 50ms"),
        pace=SearchBudget(1.0, TRIALS, 0.03),
        cpus=[],
        seed=1,
        fresh=fresh_of(1),
        put_load=machine(others),
        bursts=TrialDisturbance(2),
    )
    seat.begin(KNEE)
    return found(seat)


def voids(seat: ContenderSearch) -> int:
    return sum(trial.void == "others" for trial in seat.trials)


@pytest.mark.parametrize("period", [4, 6, 9])
def test_bursts_of_other_work_do_not_pull_the_knee_down(period: int) -> None:
    seat = searched(lambda number: 1.2 if number % period >= period - 2 else 0.1)
    assert seat.ended == "found"
    assert seat.capacity == pytest.approx(KNEE, rel=0.02)
    assert voids(seat) >= 2
    assert not any(trial.held is False and trial.rate < 0.99 * KNEE for trial in seat.trials)
    spoilt = next(trial for trial in seat.trials if trial.void == "others")
    assert spoilt.held is None
    assert spoilt.why == "others had 1.1 CPUs more than in the trials that held (p99 was 200 ms)"


@pytest.mark.parametrize("taken", [0.0, 0.4, 1.2])
def test_work_that_is_always_there_belongs_to_the_machine(taken: float) -> None:
    seat = searched(lambda _: taken)
    assert seat.ended == "found"
    assert seat.capacity == pytest.approx(KNEE / 2 if taken > 0.5 else KNEE, rel=0.02)
    assert voids(seat) == 0


def test_work_that_comes_to_stay_is_waited_for_and_then_counts() -> None:
    seat = searched(lambda number: 0.1 if number < 3 else 1.2)
    assert len(seat.trials) <= TRIALS
    assert voids(seat) == PATIENCE
    assert any(trial.held is False and trial.rate < KNEE for trial in seat.trials)


def trial(held: bool | None, taken: float, stolen: float = 0.0) -> CapacityTrial:
    void = "generator" if held is None else None
    return CapacityTrial(
        rate=1.0, seconds=1.0, purpose="search", held=held, void=void, other_cpus=taken, stolen_cpus=stolen
    )


def settled(bursts: TrialDisturbance, one: CapacityTrial) -> CapacityTrial:
    bursts.settle(one)
    return one


def test_a_trial_that_holds_in_spite_of_a_burst_has_held() -> None:
    bursts = TrialDisturbance(2)
    bursts.settle(trial(True, 0.1))
    assert settled(bursts, trial(True, 1.5)).held


def test_what_the_host_steals_is_a_burst_as_well() -> None:
    bursts = TrialDisturbance(2)
    assert settled(bursts, trial(False, 0.1, 0.9)).held is False, "nothing has held: nobody knows what is usual"
    assert settled(bursts, trial(True, 0.1)).held
    assert settled(bursts, trial(False, 0.1, 0.15)).held is False
    assert settled(bursts, trial(False, 0.1, 0.25)).void == "others"


def test_a_generator_that_a_burst_starved_is_not_at_its_limit() -> None:
    bursts = TrialDisturbance(2)
    bursts.settle(trial(True, 0.1))
    assert settled(bursts, trial(None, 0.1)).void == "generator"
    assert settled(bursts, trial(None, 1.0)).void == "others"


def test_after_a_calm_trial_there_is_patience_again() -> None:
    bursts = TrialDisturbance(2)
    bursts.settle(trial(True, 0.1))
    stormy = [settled(bursts, trial(False, 1.0)).void for _ in range(PATIENCE + 2)]
    assert stormy == ["others"] * PATIENCE + [None] * 2
    bursts.settle(trial(False, 0.1))
    assert settled(bursts, trial(False, 1.0)).void == "others"
