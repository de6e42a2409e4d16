import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity
from touchstone.record.evidence.slices import Slice
from touchstone.record.run import Run

from ..slices import sliced_run
from ..sound import codes, fired

RATES = {"go/plain": 10_000.0, "rust/plain": 10_000.0}


def _run(kept: dict[str, float], *, rounds: int = 2, usual: float = 1.0) -> Run:
    """In the first rounds each contender keeps this share of its rate in a long turn; `usual` is what all keep."""
    run = sliced_run(RATES, noise=0.02, rounds=5)
    for sample in run.samples:
        if sample.slices is None or sample.round is None or sample.round > rounds:
            continue
        rates = [one.rate or 0.0 for one in sample.slices.slices]
        rate = sum(rates) / len(rates) * kept.get(sample.contender, 1.0) * usual
        turn = Slice(
            index=0, lap_phase="warmup", begin=-2.5, sending_end=-0.5, end=-0.5, ok=round(2 * rate), unbroken=True
        )
        sample.slices.slices.insert(0, turn)
    return run


@pytest.mark.parametrize(("kept", "told"), [(0.73, {"rust/plain"}), (0.77, set())])
def test_who_is_much_slower_without_a_rest_is_named(kept: float, told: set[str]) -> None:
    found = fired(_run({"rust/plain": kept}), "needs-rest")
    assert {f.contender for f in found} == told
    assert all(f.severity is Severity.SUSPECT for f in found)


def test_it_is_not_called_faster() -> None:
    run = _run({"rust/plain": 0.3})
    comparisons = [c for c in judge(run).comparisons if c.figure == "throughput"]
    assert comparisons and all(c.low == 0 or c.low is None for c in comparisons)


def test_a_machine_that_was_slow_meanwhile_is_no_finding() -> None:
    assert not fired(_run({}, usual=0.5), "needs-rest")


def test_one_round_of_two_is_chance() -> None:
    run = _run({"rust/plain": 0.3})
    sound = _run({})
    for sample, other in zip(run.samples, sound.samples, strict=True):
        if sample.round == 2:
            sample.evidence = other.evidence
    assert not fired(run, "needs-rest")


def test_who_was_still_warming_up_says_nothing_of_rests() -> None:
    run = _run({"rust/plain": 0.3})
    for sample in run.samples:
        if sample.slices is not None and sample.slices.warm_up is not None:
            sample.slices.warm_up.ended = "budget"
    assert not fired(run, "needs-rest")


def test_who_had_died_by_then_says_nothing_of_rests() -> None:
    run = _run({})
    for sample in run.samples:
        for one in sample.slices.slices if sample.slices is not None and sample.contender == "rust/plain" else []:
            if one.unbroken:
                one.begin, one.ok = one.end, 0
    assert not fired(run, "needs-rest")


def test_sound_contenders_and_runs_without_such_turns() -> None:
    assert codes(_run({})) == set()
    assert not fired(sliced_run(RATES), "needs-rest")
