"""The smallest container for a rate: refusals, the choice, the cost, and the whole on a real server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.calibration.limited import limited_scenario

from tests.judge.capacities import capacity_run
from tests.judge.sound import sound_run
from tests.run.test_end_to_end import touchstone
from touchstone.failure import UsageError
from touchstone.isolation.delegation import lacking
from touchstone.judge.judge import judge
from touchstone.manifest.catalogue import ScenarioFolder, read_scenario_folder
from touchstone.plan.plan import RunRequest
from touchstone.record.run import Run
from touchstone.record.store import load_run
from touchstone.run.measure import RunConditions
from touchstone.sizing import size as sizing
from touchstone.sizing.price import Prices
from touchstone.sizing.size import (
    Demand,
    SizedContainer,
    Sizing,
    containers_of,
    demand_of,
    doubts_of,
    size,
    usual_quotas,
)

FREE = Prices()
STRICT = "p99 < 50ms, errors < 0.1%"


def test_money_follows_from_prices_and_the_rate() -> None:
    prices = Prices(cpu_hour=0.04, gib_hour=0.005)
    assert prices.per_hour(0.5, 2**29) == pytest.approx(0.0225)
    assert prices.per_million(0.5, 2**29, 100.0) == pytest.approx(0.0225 / 360_000 * 1e6)


def test_quotas_reach_as_far_as_there_are_cpus() -> None:
    assert usual_quotas(1) == [0.5, 1.0]
    assert usual_quotas(4) == [0.5, 1.0, 2.0, 4.0]


def test_the_smallest_quota_whose_whole_interval_serves_is_chosen() -> None:
    sizing = Sizing(Demand(1_000.0, STRICT, "work", FREE))
    sizing.grid = [
        SizedContainer("a/b", 1.0, 1_900.0, 1_800.0, 2_000.0),
        SizedContainer("a/b", 0.5, 1_010.0, 950.0, 1_070.0),
        SizedContainer("slow/b", 1.0, 700.0, 690.0, 710.0),
    ]
    chosen = sizing.smallest["a/b"]
    assert chosen is not None
    assert chosen.cpus == 1.0
    assert sizing.smallest["slow/b"] is None


def test_of_two_memory_limits_that_serve_the_smaller_is_chosen() -> None:
    sizing = Sizing(Demand(1_000.0, STRICT, "work", FREE), limited=True)
    for limit, capacity in ((2**27, 1_900.0), (2**26, 1_500.0), (2**25, None)):
        low = 0.98 * capacity if capacity else None
        sizing.grid.append(SizedContainer("a/b", 1.0, capacity, low, memory=float(limit)))
    chosen = sizing.smallest["a/b"]
    assert chosen is not None
    assert chosen.memory == 2**26


def test_a_runtime_that_counts_other_cpus_than_its_quota_is_named() -> None:
    """Under 0.5 and 1.5 CPUs JDK 25 counts 1 and 2, Bun 1.4 counts 1 both times, and Go 1.26 counts 2."""
    sizing = Sizing(Demand(1_000.0, STRICT, "work", FREE))
    sizing.grid = [
        SizedContainer("go/plain", 1.0, counted=2),
        SizedContainer("bun/plain", 1.0, counted=1),
        SizedContainer("go/plain", 1.5, counted=2),
        SizedContainer("bun/plain", 1.5, counted=1),
        SizedContainer("cpp/plain", 1.0),
    ]
    go, bun = sizing.miscounts
    assert go.startswith("go/plain counts 2 under 1, 2 under 1.5 CPUs")
    assert bun.startswith("bun/plain counts 1 under 1.5 CPUs")
    assert "a step to the next whole CPU may matter more than the quota" in bun


def test_memory_limits_that_cannot_be_read_are_refused_before_anything_runs(tmp_path: Path) -> None:
    folder = limited_scenario(tmp_path / "limited", {"tokens": ("tokens", "1500")})
    for limits in ("64MB", "0", "64,,128"):
        done = touchstone(tmp_path, "size", str(folder), "--rate", "600", "--objective", STRICT, "--memory", limits)
        assert done.returncode == 2
        assert "write it like --memory 64,128" in done.stderr


def test_a_container_has_the_runs_estimate_with_its_interval() -> None:
    run = capacity_run({"go/std": [9_000.0, 9_050.0, 8_990.0]})
    (one,) = containers_of(run, judge(run), 0.5)
    assert one.capacity == 9_000.0
    assert one.low is not None
    assert one.high is not None
    assert one.low < 9_000.0 < one.high


def test_what_makes_a_capacity_untrustworthy_is_told_with_it() -> None:
    sound = capacity_run({"go/std": [9_000.0, 9_050.0, 8_990.0]})
    assert doubts_of(judge(sound), "cpus-1") == []
    for sample in sound.samples:
        if sample.capacity and sample.contender == "go/std":
            sample.capacity.ended, sample.capacity.low, sample.capacity.high = "trials", 7_000.0, 11_000.0
    (doubt,) = doubts_of(judge(sound), "cpus-1")
    assert doubt.startswith("cpus-1: capacity-uncertain (go/std): ")


@pytest.mark.parametrize(
    ("rate", "objective", "load", "reason"),
    [
        (0.0, STRICT, None, "--rate is 0"),
        (-5.0, STRICT, None, "--rate is -5"),
        (50.0, "p99.9 < 50ms", None, "bound p99 in place of a farther percentile"),
        (5.0, "p50 < 50ms, errors < 0.1%", None, "allow errors < 0.3%"),
        (50.0, "p99 < 5%", None, "held against a time"),
        (500.0, None, None, "states no objective"),
        (500.0, STRICT, "none", "no load 'none'"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_runs(
    tmp_path: Path, rate: float, objective: str | None, load: str | None, reason: str
) -> None:
    folder = read_scenario_folder(limited_scenario(tmp_path / "limited", {"tokens": ("tokens", "1500")}))
    with pytest.raises(UsageError, match=reason):
        demand_of(folder, rate, objective, load, FREE)


@pytest.mark.parametrize(("rate", "settled"), [(6_000.0, True), (9_000.0, False), (12_000.0, True)])
def test_rounds_end_when_it_is_known_who_serves_the_rate(rate: float, settled: bool) -> None:
    run = capacity_run({"go/std": [9_000.0, 9_050.0, 8_990.0]})
    (one,) = containers_of(run, judge(run), 0.5)
    assert one.is_settled(rate) is settled


def test_who_has_no_capacity_needs_no_more_rounds() -> None:
    assert SizedContainer("go/std", 0.5, reason="nothing holds").is_settled(100.0)


@pytest.mark.parametrize(
    ("rounds", "prices", "may_end"),
    [(None, FREE, True), (3, FREE, False), (None, Prices(cpu_hour=0.04), False)],
    ids=["usual", "rounds named", "priced"],
)
def test_rounds_that_are_named_or_paid_for_are_all_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds: int | None, prices: Prices, may_end: bool
) -> None:
    folder = read_scenario_folder(limited_scenario(tmp_path / "limited", {"tokens": ("tokens", "1500")}))
    folder, demand = demand_of(folder, 600.0, STRICT, None, prices)
    given: list[bool] = []

    def measured(_: ScenarioFolder, wish: RunRequest, stacks: Sequence[str], conditions: RunConditions) -> Run:
        if wish.phases == ("capacity",):
            given.append(conditions.enough is not None)
        return sound_run()

    monkeypatch.setattr(sizing, "_run", measured)
    size(
        folder,
        demand,
        [0.5],
        RunRequest(rounds=rounds),
        stacks=["go"],
        conditions=RunConditions(folder=tmp_path / "out"),
    )
    assert given == [may_end]


@pytest.mark.parametrize(
    ("until_served", "tried"),
    [(True, [(0.5, ["go", "rust"]), (1.0, ["go/plain"])]), (False, [(q, ["go", "rust"]) for q in (0.5, 1.0, 2.0)])],
)
def test_a_larger_quota_is_tried_by_those_that_no_smaller_one_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until_served: bool, tried: list[tuple[float, list[str]]]
) -> None:
    folder = read_scenario_folder(limited_scenario(tmp_path / "limited", {"tokens": ("tokens", "1500")}))
    folder, demand = demand_of(folder, 600.0, "p90 < 40ms, errors < 1%", None, FREE)
    asked: list[tuple[float, list[str]]] = []

    def measured(_: ScenarioFolder, wish: RunRequest, stacks: Sequence[str], conditions: RunConditions) -> Run:
        if wish.phases == ("capacity",):
            asked.append((conditions.cpu_limit or 0.0, list(stacks)))
        return sound_run()

    def container(name: str, cpus: float, capacity: float) -> SizedContainer:
        return SizedContainer(name, cpus, capacity=capacity * cpus, low=capacity * cpus, high=capacity * cpus)

    monkeypatch.setattr(sizing, "_run", measured)
    monkeypatch.setattr(
        sizing,
        "containers_of",
        lambda run, judgement, cpus, limit: [container("go/plain", cpus, 700.0), container("rust/plain", cpus, 2000.0)],
    )
    conditions = RunConditions(folder=tmp_path / "out")
    size(
        folder,
        demand,
        [2, 0.5, 1],
        RunRequest(),
        stacks=["go", "rust"],
        conditions=conditions,
        until_served=until_served,
    )
    assert asked == tried


@pytest.mark.slow
@pytest.mark.skipif(lacking("memory", "cpu") is not None, reason="CPU and memory limits need a cgroup")
def test_a_server_gets_the_smallest_container_that_serves(tmp_path: Path) -> None:
    folder = limited_scenario(tmp_path / "limited", {"tokens": ("tokens", "1500")})
    words = ("--rate", "600", "--objective", "p90 < 40ms, errors < 1%", "--rounds", "1", "--json")
    prices = ("--price-cpu-hour", "0.04", "--price-gib-hour", "0.005")
    done = touchstone(tmp_path, "size", str(folder), *words, *prices, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(done.stdout)["grid"]
    assert one["cpus"] == 0.5
    assert one["capacity"] > 600
    assert 2**20 < one["memory"] < 2**28


@pytest.mark.slow
@pytest.mark.skipif(lacking("memory", "cpu") is not None, reason="CPU and memory limits need a cgroup")
def test_each_quota_is_measured_under_each_memory_limit(tmp_path: Path) -> None:
    folder = limited_scenario(tmp_path / "limited", {"tokens": ("tokens", "1500")})
    words = ("--rate", "600", "--objective", "p90 < 40ms, errors < 1%", "--cpus", "1", "--memory", "64,32")
    done = touchstone(tmp_path, "size", str(folder), *words, "--rounds", "1", "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    grid = json.loads(done.stdout)["grid"]
    assert [(one["cpus"], one["memory"]) for one in grid] == [(1.0, 2**25), (1.0, 2**26)]
    assert all(one["capacity"] > 600 for one in grid)
    (sample,) = [s for s in load_run(tmp_path / "out/cpus-1-memory-32").samples if s.contender == "tokens/plain"
                 and s.phase == "capacity"]  # fmt: skip
    assert sample.process.placement.memory_limit == 2**25
