from collections.abc import Mapping, Sequence

import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity
from touchstone.record.evidence.slices import Slice, SliceLatency
from touchstone.record.run import Run

from ..slices import sliced_run
from ..sound import codes, fired

RATES = {"go/plain": 10_000.0, "rust/plain": 10_000.0}


Parts = Sequence[float]
"""The rate of each part of a stretch without a rest, over the usual one."""


def _run(kept: Mapping[str, float | Parts], *, rounds: int = 2, usual: float = 1.0) -> Run:
    """In the first rounds each contender keeps this share of its rate in a stretch; `usual` is what all keep."""
    run = sliced_run(RATES, noise=0.02, rounds=5)
    for sample in run.samples:
        if sample.slices is None or sample.round is None or sample.round > rounds:
            continue
        rates = [one.rate or 0.0 for one in sample.slices.slices]
        parts = kept.get(sample.contender, 1.0)
        for number, part in enumerate([parts] if isinstance(parts, float) else parts):
            ok = round(2 * sum(rates) / len(rates) * part * usual)
            begin = -20.0 + 2 * number
            turn = Slice(
                index=0,
                lap_phase="warmup",
                begin=begin,
                sending_end=begin + 2,
                end=begin + 2,
                sent=ok,
                completed=ok,
                ok=ok,
                unbroken=True,
            )
            sample.slices.slices.insert(number, turn)
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


def test_a_machine_that_was_slow_meanwhile_is_a_note_that_names_it() -> None:
    found = fired(_run({}, usual=0.5), "needs-rest")
    assert {f.severity for f in found} == {Severity.NOTE} and all("the machine" in f.statement for f in found)
    assert all(f.figures == [] for f in found)


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ((1.0, 1.0, 0.4, 0.4), True),  # A bucket runs dry.
        ((1.0, 0.4, 1.0, 1.0), False),  # The machine was disturbed for a moment.
        ((0.4, 0.5, 0.6, 0.7), False),  # A compiler catches up.
        ((0.4, 0.4, 0.4, 0.4), True),
    ],
)
def test_the_later_half_of_a_stretch_counts(parts: Parts, named: bool) -> None:
    assert bool(fired(_run({"rust/plain": parts}), "needs-rest")) is named


def test_a_service_that_fell_silent_is_left_to_other_rules() -> None:
    run = _run({"rust/plain": (1.0, 0.01)})
    for sample in run.samples:
        for one in sample.slices.slices if sample.slices is not None and sample.contender == "rust/plain" else []:
            if one.unbroken:
                one.sent = one.completed + 40
    assert not fired(run, "needs-rest")


@pytest.mark.parametrize(
    ("slow_s", "right", "named"), [(0.0064, 1.0, False), (0.5, 1.0, True), (0.0064, 0.5, True), (0.0064, 0.9, False)]
)
def test_an_open_loop_shows_it_by_late_or_wrong_responses(slow_s: float, right: float, named: bool) -> None:
    run = _run({"rust/plain": (1.0, 1.0)})
    for sample in run.samples:
        sample.spec.loop = "open"
        for one in sample.slices.slices if sample.slices is not None else []:
            one.offered = 1_000.0
            if one.unbroken:
                mine = sample.contender == "rust/plain"
                p50 = slow_s if mine else 0.0064
                one.ok = round(one.ok * (right if mine else 1.0))
                one.sent += 500 if mine and slow_s > 0.1 else 0  # They time out in the queue.
                one.latency = SliceLatency(count=1_000, p50=p50, p99=2 * p50, max=3 * p50)
    assert {f.contender for f in fired(run, "needs-rest")} == ({"rust/plain"} if named else set())


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
