"""The universal scalability law: found where a service follows it, kept silent about where it does not."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from touchstone.judge.judge import judge
from touchstone.judge.statistics.scalability import ScalabilityLaw, fit_law
from touchstone.record.evidence.capacity import CapacityTrial

from .capacities import search, with_search

LOADS = [0.3, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0]


def rate(inside: float, single: float, contention: float, crosstalk: float) -> float:
    return single * inside / (1 + contention * (inside - 1) + crosstalk * inside * (inside - 1))


def fitted(*parameters: float, scatter: float = 0.0, seed: int = 0) -> ScalabilityLaw:
    dice = random.Random(seed)
    points = [(n, rate(n, *parameters) * (1 + dice.gauss(0, scatter))) for n in LOADS * 2]
    law = fit_law(points, 0.95)
    assert law is not None
    return law


def test_the_parameters_of_a_service_that_follows_the_law_are_found() -> None:
    law = fitted(200.0, 0.05, 0.001)
    found = (law.single.point, law.contention.point, law.crosstalk.point)
    assert found == pytest.approx((200.0, 0.05, 0.001), rel=1e-6)
    assert law.error == pytest.approx(0.0, abs=1e-6)
    assert law.ceiling == pytest.approx(rate((0.95 / 0.001) ** 0.5, 200.0, 0.05, 0.001))


def test_scatter_widens_the_intervals_and_most_of_them_hold_the_truth() -> None:
    laws = [fitted(200.0, 0.05, 0.001, scatter=0.05, seed=seed) for seed in range(40)]
    assert all(law.error < 0.1 for law in laws)
    assert sum(law.single.low < 200.0 < law.single.high for law in laws) >= 30
    assert sum(law.contention.low < 0.05 < law.contention.high for law in laws) >= 30


def test_without_crosstalk_the_rate_nears_a_bound_and_without_contention_it_has_none() -> None:
    assert fitted(200.0, 0.05, 0.0).ceiling == pytest.approx(200.0 / 0.05)
    assert fitted(200.0, 0.0, 0.0).ceiling is None


def test_fewer_than_six_loads_give_no_law() -> None:
    assert fit_law([(n, rate(n, 200.0, 0.05, 0.001)) for n in LOADS[1:6] * 4], 0.95) is None


def curve(stays: Sequence[tuple[float, float]]) -> list[CapacityTrial]:
    """Trials at rates at which a request stays for these seconds on average."""
    return [
        CapacityTrial(rate=x, seconds=2.0, purpose="curve", held=True, achieved=x, latency={"mean": s}, backlog=0.0)
        for x, s in stays
    ]


def test_the_judge_tells_the_law_of_a_service_whose_requests_wait_for_each_other() -> None:
    found = search(2_000.0)
    # It answers after 5 ms and 375 us more for each request that it holds, as Little's law has it.
    found.trials = curve([(x, 0.005 / (1 - x * 375e-6)) for x in (100, 400, 900, 1_400, 1_800, 2_100, 2_300, 2_400)])
    (told,) = judge(with_search(found, 2_000.0)).scalings
    assert told.contender == "go/std"
    assert told.contention[0] == pytest.approx(375 / 5_375, rel=0.01)
    assert told.ceiling == pytest.approx(1 / 375e-6, rel=0.01)
    assert "By the universal scalability law" in told.sentence


def test_a_service_that_bends_at_once_has_no_such_law_and_a_growing_queue_is_no_point_of_it() -> None:
    bends = search(1_500.0)
    bends.trials = curve([(x, 0.0002) for x in (100, 400, 700, 1_000, 1_200, 1_400)] + [(1_500, 0.04)])
    assert judge(with_search(bends, 1_500.0)).scalings == []
    grows = search(1_500.0)
    grows.trials = curve([(x, 0.005 / (1 - x * 375e-6)) for x in (100, 400, 900, 1_400, 1_800, 2_100)])
    for trial in grows.trials[3:]:
        trial.backlog = 0.05
    assert judge(with_search(grows, 1_500.0)).scalings == []
