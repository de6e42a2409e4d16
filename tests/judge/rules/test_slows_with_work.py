import pytest

from tests.judge.slices import CPU_PER_REQUEST, sliced_run
from touchstone.judge.judgement import Severity
from touchstone.judge.rules.slowing import LEAST_ANSWERED
from touchstone.record.run import Run
from touchstone.record.sample import Sample

from ..sound import fired

RATES = {"go/std": 20_000.0, "rust/std": 26_000.0, "kotlin/jvm": 15_000.0}


def _run() -> Run:
    return sliced_run(RATES, rounds=3, laps=30)


def _cost(sample: Sample, by_turn: float) -> None:
    """CPU per request that changes by a share of the first turn's with every turn."""
    assert sample.slices is not None
    for number, turn in enumerate(sample.slices.slices):
        noise = 1 + 0.03 * (number * 7 % 5 - 2) / 2
        turn.server_cpu_s = CPU_PER_REQUEST * turn.completed * (1 + by_turn * number) * noise


def _of(run: Run, contender: str) -> list[Sample]:
    return [s for s in run.samples if s.phase == "load" and s.contender == contender]


def test_a_table_that_grows_with_every_request() -> None:
    run = _run()
    for sample in _of(run, "go/std"):
        _cost(sample, 0.02)
    (finding,) = fired(run, "slows-with-work")
    assert (finding.contender, finding.severity) == ("go/std", Severity.SUSPECT)
    assert finding.doubt is not None


def test_one_round_of_three_is_chance() -> None:
    run = _run()
    _cost(_of(run, "go/std")[0], 0.02)
    assert not fired(run, "slows-with-work")


def test_what_the_machine_does_to_all_is_no_fault_of_one() -> None:
    run = _run()
    for sample in run.samples:
        if sample.slices is not None:
            _cost(sample, 0.01)
    assert not fired(run, "slows-with-work")


def test_a_compiler_makes_requests_cheaper() -> None:
    run = _run()
    for sample in _of(run, "go/std"):
        _cost(sample, -0.01)
    assert not fired(run, "slows-with-work")


def test_one_round_with_turns_enough_among_many_with_too_few_is_chance() -> None:
    run = _run()
    for sample in run.samples:
        if sample.slices is not None and sample.round != 1:
            sample.slices.slices = sample.slices.slices[:8]
    _cost(_of(run, "go/std")[0], 0.02)
    assert not fired(run, "slows-with-work")


def test_who_waits_longer_and_longer_falls_behind_the_others_of_its_lap() -> None:
    run = _run()
    for sample in _of(run, "go/std"):
        assert sample.slices is not None
        for number, turn in enumerate(sample.slices.slices):
            turn.rate = (turn.rate or 0.0) / (1 + 0.02 * number)
    (finding,) = fired(run, "slows-with-work")
    assert finding.statement.startswith("time per request rose")


def test_who_waits_longer_is_seen_through_bursts_that_move_rates() -> None:
    run = _run()
    for sample in _of(run, "go/std"):
        for number, turn in enumerate(sample.slices.slices if sample.slices else []):
            assert turn.rate is not None and turn.latency is not None and turn.latency.p50 is not None
            turn.rate /= (1 + 0.006 * number) * (2.5 if number % 4 == 1 else 1.0 + number * 7 % 5 / 6)
            turn.latency.p50 *= 1 + 0.006 * number
    (finding,) = fired(run, "slows-with-work")
    assert finding.statement.startswith("the median latency rose")


def test_who_was_warmed_up_alone_and_is_slower_among_others_is_sound() -> None:
    run = _run()
    for sample in _of(run, "go/std"):
        turns = sample.slices.slices if sample.slices else []
        for turn in turns[:15]:
            assert turn.latency is not None and turn.latency.p50 is not None
            turn.lap = None
            turn.latency.p50 *= 0.8
    assert not fired(run, "slows-with-work")


def test_a_machine_that_gets_slower_makes_all_wait() -> None:
    run = _run()
    for sample in run.samples:
        for number, turn in enumerate(sample.slices.slices if sample.slices else []):
            turn.rate = (turn.rate or 0.0) / (1 + 0.02 * number)
    assert not fired(run, "slows-with-work")


@pytest.mark.parametrize(("answers", "findings"), [(LEAST_ANSWERED - 1, 0), (LEAST_ANSWERED, 1)])
def test_a_few_requests_show_no_trend(answers: int, findings: int) -> None:
    run = _run()
    for sample in _of(run, "go/std"):
        turns = sample.slices.slices if sample.slices else []
        for turn in turns:
            turn.completed = answers // len(turns)
        turns[-1].completed += answers % len(turns)
        _cost(sample, 0.02)
    assert len(fired(run, "slows-with-work")) == findings
