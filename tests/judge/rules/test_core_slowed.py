import random

from touchstone.record.run import Run

from ..slices import sliced_run
from ..sound import fired, loads, result_of

LAPS = 24
ANSWERS = {"go/std": 4.0, "rust/std": 1.5}


def on_a_slow_core(slow: float) -> Run:
    """Two contenders in slices, half of which are on a slower core; one loses more of that than the other."""
    run = sliced_run({"go/std": 20_000.0, "rust/std": 26_000.0}, rounds=3, laps=LAPS)
    dice = random.Random(3)
    for name, answer in ANSWERS.items():
        for sample in loads(run, name):
            for turn in sample.slices.slices if sample.slices else []:
                took = (slow if dice.random() < 0.5 else 1.0) * dice.lognormvariate(0, 0.003)
                turn.reference_s = 1e-6 * took
                turn.rate = (turn.rate or 0.0) * took**-answer
    return run


def test_what_each_would_gain_on_a_core_that_is_left_alone() -> None:
    (finding,) = fired(on_a_slow_core(1.17), "core-slowed")
    gains = finding.evidence["gains"]
    assert 0.25 < gains["go/std"] < 0.5
    assert 0.08 < gains["rust/std"] < 0.2
    assert "On an undisturbed core, go/std would serve about" in finding.statement
    assert finding.contender is None and finding.load is not None


def test_a_core_that_is_slower_by_little_costs_little() -> None:
    assert not fired(on_a_slow_core(1.03), "core-slowed")


def test_who_does_not_answer_to_it_loses_nothing() -> None:
    run = on_a_slow_core(1.17)
    dice = random.Random(4)
    for name in ANSWERS:
        for sample in loads(run, name):
            for turn in sample.slices.slices if sample.slices else []:
                turn.rate = 20_000.0 * dice.lognormvariate(0, 0.05)
    assert not fired(run, "core-slowed")


def test_what_others_took_is_not_called_a_slow_core() -> None:
    run = on_a_slow_core(1.17)
    for sample in loads(run):
        result = result_of(sample)
        result.machine.other_cpu_s = 0.5 * result.window.watched_s
    assert not fired(run, "core-slowed")
