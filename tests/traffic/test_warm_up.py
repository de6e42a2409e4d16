from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Literal

import pytest

from touchstone.engine.slices import SlicesSession, Turn, TurnRecord
from touchstone.record.evidence.slices import WarmUp
from touchstone.traffic.warm_up import REST_S, at_rest, cpu_without_load, warm_up
from touchstone.traffic.warming import MOST_RESTS, RESTS, WarmingContender, WarmUpBudget

SLICE_S = 0.25
Course = Callable[[float], float]
"""A value over the seconds of load."""


def warmed(
    rate: Course,
    budget: WarmUpBudget,
    *,
    cpu_s: Course | None = None,
    busy_without_load: Callable[[float], bool] | None = None,
    reference_s: Course = lambda _t: 2e-6,
) -> WarmingContender:
    """Warmed up by slices of this rate and CPU per request; a look at its rest every two."""
    one = WarmingContender(budget)
    index = 0
    while not one.done:
        begin = index * SLICE_S
        ok = round(rate(begin) * SLICE_S)
        one.add(
            TurnRecord(
                index=index, contender=0, lap_phase="warmup", begin=begin, sending_end=begin + SLICE_S,
                end=begin + SLICE_S, sent=max(1, ok), completed=ok, ok=ok, rate=rate(begin),
                server_cpu_s=None if cpu_s is None else cpu_s(begin) * ok, reference_s=reference_s(begin),
            )
        )  # fmt: skip
        index += 1
        if busy_without_load is not None and index % 2 == 0:
            one.busy_without_load = busy_without_load(begin)
            one.rests += one.wants_rest
    return one


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_native_program_is_warm_in_seconds(noise: float) -> None:
    dice = random.Random(3)
    account = warmed(lambda _t: 20_000 * dice.lognormvariate(0, noise), WarmUpBudget(1.5, 45.0)).account()
    assert account.ended == "flat"
    assert account.seconds < 10


def test_what_others_take_of_the_machine_does_not_keep_it_warming() -> None:
    dice = random.Random(3)
    taken = [dice.uniform(0.5, 1.0) for _ in range(400)]
    lengths = []
    for first in range(0, 200, 10):
        one = warmed(
            lambda t, first=first: 20_000 * taken[first + int(t)],  # type: ignore[misc]
            WarmUpBudget(1.5, 45.0),
            cpu_s=lambda _t: 40e-6 * dice.lognormvariate(0, 0.02),
            busy_without_load=lambda _t: False,
        )
        assert one.account().ended == "flat"
        lengths.append(one.seconds)
    assert sorted(lengths)[len(lengths) // 2] < 4
    assert max(lengths) < 15


def test_a_core_that_gets_faster_does_not_keep_it_warming() -> None:
    def slower(t: float) -> float:
        """How much longer all work takes than at the end."""
        return 1 + 0.3 * math.exp(-t / 4)

    one = warmed(
        lambda t: 20_000 / slower(t),
        WarmUpBudget(1.5, 45.0),
        cpu_s=lambda t: 40e-6 * slower(t),
        busy_without_load=lambda _t: False,
        reference_s=lambda t: 2e-6 * slower(t),
    )
    assert one.account().ended == "flat"
    assert one.seconds < 3


def jit(t: float) -> float:
    """A runtime that compiles: a tenth of its peak at first, its peak after half a minute."""
    return 19_000 * (0.1 + 0.9 / (1 + math.exp(-(t - 18) / 4)))


def test_a_runtime_that_compiles_is_loaded_until_it_has_risen() -> None:
    account = warmed(jit, WarmUpBudget(1.5, 60.0)).account()
    assert account.ended == "flat"
    assert jit(account.seconds) > 0.93 * 19_000


@pytest.mark.parametrize("seen", [True, False])
def test_so_is_one_whose_cpu_is_known(seen: bool) -> None:
    busy_without_load = (lambda _t: False) if seen else None
    account = warmed(
        jit, WarmUpBudget(1.5, 60.0), cpu_s=lambda t: 1 / jit(t), busy_without_load=busy_without_load
    ).account()
    assert account.ended == "flat"
    assert jit(account.seconds) > 0.9 * 19_000


def test_who_stands_still_while_a_compiler_waits_for_cpu_goes_on() -> None:
    compiled = 3.0
    """Seconds of load after which a compiler that gets only rests has done its work."""

    def rate(t: float) -> float:
        return 10_000 if t < compiled else 20_000

    def ended(busy_without_load: Callable[[float], bool] | None) -> float:
        return warmed(
            rate, WarmUpBudget(1.5, 60.0), cpu_s=lambda t: 1 / rate(t), busy_without_load=busy_without_load
        ).seconds

    assert ended(None) < compiled < ended(lambda t: t < compiled)


def test_who_works_while_off_for_good_is_not_waited_for_for_long() -> None:
    one = warmed(lambda _t: 20_000, WarmUpBudget(1.5, 60.0), cpu_s=lambda _t: 50e-6, busy_without_load=lambda _t: True)
    assert one.rests == RESTS
    assert one.account().ended == "flat"
    assert one.account().busy_without_load


def test_a_rate_that_rises_without_cpu_is_waited_for() -> None:
    def pool_fills(t: float) -> float:
        return 1_000.0 * math.pow(1.4, min(t, 8))

    one = warmed(pool_fills, WarmUpBudget(1.5, 60.0, 0), cpu_s=lambda _t: 50e-6, busy_without_load=lambda _t: False)
    assert one.seconds > 8


def test_who_compiles_needs_responses_under_a_further_load_and_who_does_not_needs_none() -> None:
    first = WarmUpBudget(1.5, 60.0)
    compiling = warmed(jit, first, cpu_s=lambda t: 1 / jit(t), busy_without_load=lambda _t: False).account()
    native = warmed(lambda _t: 20_000, first, cpu_s=lambda _t: 50e-6, busy_without_load=lambda _t: False).account()
    assert compiling.first_cpu_ratio is not None and compiling.first_cpu_ratio > 5
    assert native.first_cpu_ratio == pytest.approx(1.0)
    for account, least in ((compiling, 10_000), (native, 0)):
        further = warmed(
            lambda _t: 2_000, first.after(account), cpu_s=lambda _t: 9e-5, busy_without_load=lambda _t: False
        )
        assert further.account().ended == "flat"
        assert least <= further.requests < least + 4_000


def test_one_that_still_rises_when_its_time_is_used_up_is_called_so() -> None:
    account = warmed(jit, WarmUpBudget(1.5, 15.0)).account()
    assert account.ended == "budget"
    assert account.growth is not None and account.growth > 0.03


class Compiling(SlicesSession):
    """A service whose compiler has work for so long, and gets CPU only while the load rests; and a null server."""

    def __init__(self, work_s: float) -> None:
        self.work_s = self.left_s = work_s
        self.now = self.rested_s = 0.0
        self.fatal = {}

    def rest(self, seconds: float) -> None:
        self.now += seconds
        self.rested_s += seconds
        self.left_s = max(0.0, self.left_s - seconds)

    def turns(self, phase: Literal["warmup", "load"], turns: Sequence[Turn]) -> list[TurnRecord]:
        return [self._turn(phase, turn) for turn in turns]

    def _turn(self, phase: Literal["warmup", "load"], turn: Turn) -> TurnRecord:
        rate = 5_000 + 15_000 * (1 - self.left_s / self.work_s) if turn.contender == 0 else 200_000
        beside = min(self.left_s, turn.seconds / 2) if turn.contender == 1 else 0.0
        begin, self.now = self.now, self.now + turn.seconds
        self.left_s -= beside
        ok = round(rate * turn.seconds)
        return TurnRecord(
            index=0, contender=turn.contender, lap_phase=phase, begin=begin, sending_end=self.now, end=self.now,
            sent=ok, completed=ok, ok=ok, rate=rate, server_cpu_s=turn.seconds, others_cpu_s=[beside, 0.0],
        )  # fmt: skip


def compiled(work_s: float, monkeypatch: pytest.MonkeyPatch) -> tuple[Compiling, WarmUp]:
    """Warmed up next to a null server."""
    session = Compiling(work_s)
    monkeypatch.setattr("touchstone.traffic.warm_up.time.sleep", session.rest)
    _, accounts = warm_up(session, {0: "one"}, {0: WarmUpBudget(1.5, 60.0)}, SLICE_S, lambda _text: None, null=1)
    return session, accounts[0]


@pytest.mark.parametrize("work_s", [0.05, 1.0, 5.0])
def test_a_compiler_gets_the_rests_that_its_work_needs_and_no_more(
    work_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, account = compiled(work_s, monkeypatch)
    assert account.ended == "flat"
    assert not account.busy_without_load
    assert session.left_s == 0
    assert session.rested_s <= work_s + 2 * REST_S


def test_who_never_rests_is_let_rest_for_seconds_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    session, account = compiled(1e6, monkeypatch)
    assert account.ended == "flat"
    assert account.busy_without_load
    assert RESTS * REST_S <= session.rested_s < MOST_RESTS * REST_S


def lap_of(*turns: tuple[int, float, list[float]]) -> list[TurnRecord]:
    """Correct responses, own CPU and that of all others for each turn of a lap."""
    return [
        TurnRecord(
            index=index, contender=index, lap_phase="warmup", begin=index, sending_end=index + 0.25, end=index + 0.25,
            ok=ok, server_cpu_s=own, others_cpu_s=list(others),
        )
        for index, (ok, own, others) in enumerate(turns)
    ]  # fmt: skip


def test_settling_goes_on_while_a_compiler_works_in_the_others_slices() -> None:
    assert at_rest(lap_of((1000, 0.1, [0.0, 0.004]), (1000, 0.1, [0.001, 0.0])))
    assert not at_rest(lap_of((1000, 0.1, [0.0, 0.02]), (1000, 0.1, [0.0, 0.0])))


def test_work_in_a_rest_is_held_against_as_much_time_of_its_own() -> None:
    one, null = lap_of((1000, 0.2, [0.0, 0.0]), (1000, 0.1, [0.05, 0.0]))
    assert cpu_without_load([one, one, one, null])[0] == pytest.approx(0.25)
    assert cpu_without_load([one, null, null])[0] == pytest.approx(0.5)
    assert cpu_without_load([one, one]) == {}


@pytest.mark.parametrize(("cpus", "share"), [(0.009, 0.0), (0.011, 1.1)])
def test_timers_of_an_idle_runtime_are_no_work_however_little_its_own_requests_need(cpus: float, share: float) -> None:
    one, null = lap_of((1000, 0.01, [0.0, 0.0]), (1000, 0.1, [0.25 * cpus, 0.0]))
    assert cpu_without_load([one, null, null, null, null]) == pytest.approx({0: share, 1: 0.0})


def test_a_service_that_falls_silent_ends_its_warm_up_after_two_such_turns() -> None:
    one = warmed(lambda t: 20_000 if t < 1.0 else 0.0, WarmUpBudget(1.5, 60.0))
    assert one.seconds == pytest.approx(1.0 + 2 * SLICE_S)
    assert one.account().ended == "died"


def test_waits_for_requests_that_time_out_are_part_of_the_budget() -> None:
    one = WarmingContender(WarmUpBudget(1.5, 60.0))
    turns = 0
    while not one.done:
        begin = turns * 10.25
        one.add(
            TurnRecord(
                index=turns, contender=0, lap_phase="warmup", begin=begin, sending_end=begin + SLICE_S,
                end=begin + 10.25, sent=500, completed=499, ok=499, rate=2000.0 * 1.1**turns,
            )
        )  # fmt: skip
        turns += 1
    assert turns == 6


def test_a_service_that_fell_silent_is_not_waited_for() -> None:
    assert at_rest(lap_of((1000, 0.1, [0.0, 0.001]), (0, 0.0005, [0.0, 0.0])))


def test_the_dead_are_not_waited_for() -> None:
    one = WarmingContender(WarmUpBudget(1.5, 45.0), dead=True)
    assert one.done
    assert one.account().ended == "died"


def test_a_warm_up_is_read_by_the_names_of_earlier_versions() -> None:
    earlier = {"ended": "flat", "seconds": 2.0, "requests": 9, "relief": 0.01, "restless": False, "eased": 3.0}
    warm = WarmUp.model_validate(earlier)
    assert (warm.cpu_saved, warm.busy_without_load, warm.first_cpu_ratio) == (0.01, False, 3.0)
    written = warm.model_dump()
    assert not {"relief", "restless", "eased"} & written.keys()
    assert WarmUp.model_validate(written) == warm
