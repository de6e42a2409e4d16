"""The machine's effect on all contenders of a lap is separated from the change of one of them."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.judge.slices import sliced_run
from tests.judge.sound import codes, fired, loads, result_of
from touchstone.judge.reading.core import core_slopes
from touchstone.judge.reading.pace import level_points, pace_of
from touchstone.record.engine import Point
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.run import Run
from touchstone.record.sample import TARE

LAPS = 24
RATES = {"go/std": 20_000.0, "rust/std": 26_000.0, "kotlin/jvm": 15_000.0}


def run_of(
    machine: Callable[[int, int], float] = lambda _round, _lap: 1.0,
    own: Callable[[int], float] = lambda _lap: 1.0,
    rates: dict[str, float] = RATES,
) -> Run:
    """A run in slices on a machine of that pace, in which `go/std` has a pace of its own besides."""
    run = sliced_run(rates, rounds=3, laps=LAPS, machine=machine)
    for sample in run.samples:
        if sample.phase != "load" or sample.slices is None:
            continue
        for lap, turn in enumerate(sample.slices.slices):
            speed = own(lap) if sample.contender == "go/std" else 1.0
            turn.rate = (turn.rate or 0.0) * speed
            turn.completed = turn.ok = round(turn.ok * speed)
            turn.server_cpu_s = (turn.server_cpu_s or 0.0) * speed
        result_of(sample).series = [Point(t=turn.end, ok=turn.ok) for turn in sample.slices.slices]
    return run


def on_cores(run: Run, slow: Callable[[int, int], float], answer: float = 1.0) -> Run:
    """The same, where the reference work takes longer by `slow`, and `go/std` loses `answer` times as much on a
    logarithmic scale: a service that reads much memory loses more than a loop in the first cache.
    """
    dice = random.Random(7)
    for sample in loads(run, "go/std"):
        turns = sample.slices.slices if sample.slices else []
        for lap, turn in enumerate(turns):
            took = slow(sample.round or 0, lap) * dice.lognormvariate(0, 0.005)
            turn.reference_s = 1e-6 * took
            turn.rate = (turn.rate or 0.0) * took**-answer
            turn.completed = turn.ok = round(turn.ok * took**-answer)
        result_of(sample).series = [Point(t=turn.end, ok=turn.ok) for turn in turns]
    return run


def slower_from(lap: int) -> Callable[[int], float]:
    return lambda now: 1.0 if now < lap else 0.7


def test_a_machine_that_gets_slower_is_no_fault_of_a_contender() -> None:
    assert not codes(run_of(lambda _round, lap: slower_from(8)(lap))) & {"slowdown-in-window", "slows-with-work"}


def test_a_contender_that_sleeps_from_some_request_on() -> None:
    assert [finding.contender for finding in fired(run_of(own=slower_from(8)), "slowdown-in-window")] == ["go/std"]


def test_it_is_seen_on_a_machine_that_others_use() -> None:
    def hog(round_number: int, lap: int) -> float:
        return 0.4 if (lap + round_number) % 5 in {0, 1} else 1.0

    run = run_of(hog, slower_from(8))
    assert [finding.contender for finding in fired(run, "slowdown-in-window")] == ["go/std"]


def test_waiting_that_grows_with_the_requests_costs_no_cpu_and_is_told() -> None:
    (finding,) = fired(run_of(own=lambda lap: 1 / (1 + 0.02 * lap)), "slows-with-work")
    assert finding.contender == "go/std"
    assert finding.statement.startswith("time per request rose")


def test_a_core_that_others_slow_down_is_no_fault_of_a_contender() -> None:
    def late_twice(round_number: int, lap: int) -> float:
        return 1.17 if (lap >= 12) is (round_number < 3) else 1.0

    assert not codes(on_cores(run_of(), late_twice, answer=4.0)) & {"slowdown-in-window", "no-steady-state"}


def test_a_contender_that_gets_slower_is_told_from_its_core() -> None:
    run = on_cores(
        run_of(own=slower_from(12)), lambda number, lap: 1.17 if (lap + number) % 4 == 0 else 1.0, answer=4.0
    )
    assert [finding.contender for finding in fired(run, "slowdown-in-window")] == ["go/std"]


def test_a_core_that_gets_slower_in_every_round_may_be_the_contenders_own_doing() -> None:
    run = on_cores(run_of(), lambda _number, lap: 1.17 if lap >= 12 else 1.0, answer=4.0)
    assert [finding.contender for finding in fired(run, "slowdown-in-window")] == ["go/std"]


def test_the_null_servers_own_scatter_hides_no_slowdown() -> None:
    """With one neighbour alone, its slices are not a measure of the machine in those of another."""
    alone = {"go/std": RATES["go/std"]}
    run = run_of(own=slower_from(8), rates=alone)
    dice = random.Random(5)
    for tare in run.samples:
        if tare.contender == TARE and tare.slices is not None:
            for turn in tare.slices.slices:
                turn.rate = (turn.rate or 0.0) * dice.lognormvariate(0, 0.4)
    assert [finding.contender for finding in fired(run, "slowdown-in-window")] == ["go/std"]


def test_a_neighbour_that_changes_is_not_taken_for_the_machine() -> None:
    two = {name: rate for name, rate in RATES.items() if name != "kotlin/jvm"}
    run = run_of(own=slower_from(8), rates=two)
    (rust, *_) = loads(run, "rust/std")
    pace = pace_of(rust, run, core_slopes(run))
    assert max(abs(speed - 1) for speed in pace.values()) < 0.1
    assert len(level_points(rust, run, core_slopes(run))) == LAPS


def test_a_whole_window_is_taken_as_it_is() -> None:
    run = run_of()
    (sample, *_) = loads(run, "go/std")
    sample.evidence = LoadEvidence(result=sample.result)
    assert pace_of(sample, run, core_slopes(run))
    assert level_points(sample, run, core_slopes(run)) == result_of(sample).series
