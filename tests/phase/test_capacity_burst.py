"""A burst beyond the capacity, on servers whose capacity and queue are known, and on planted figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from benchmarks.calibration.limited import LOAD, limited, seat_at

from tests.bench.test_at_once import contender
from touchstone.bench.base import Watcher, blank_process
from touchstone.bench.running_contender import RunningContender
from touchstone.bench.together import StartedTogether
from touchstone.engine.client import run_job
from touchstone.engine.job import Timing, load_job
from touchstone.failure import TouchstoneError
from touchstone.manifest.objective import parse_objective
from touchstone.phase.capacity.burst import (
    BURST_INTERVAL_S,
    FACTORS,
    burst_figures,
    burst_load,
    read_burst,
    within,
)
from touchstone.phase.capacity.load_search import LoadSearch
from touchstone.phase.capacity.trial import LEAD_S
from touchstone.record.distribution import Distribution
from touchstone.record.engine import LoadResult, Point
from touchstone.record.evidence.capacity import BurstEvidence, BurstStep
from touchstone.traffic.recovery import recovery

from .test_peak import bench_of

CAPACITY = 1_000.0
OBJECTIVE = parse_objective("p99 < 150ms")


def burst_on(*server: str, deadline_s: float = 0.25, step_s: float = 0.6) -> BurstEvidence:
    """What a burst does to a server that serves 1,000 requests per second."""
    with limited(*server) as target:
        load, steps = burst_load(LOAD, CAPACITY, deadline_s, step_s)
        seconds = sum(step["seconds"] for step in steps)
        job = load_job(load, target.url, Timing(LEAD_S, seconds, 0.0), cpus=[], seed=1, fresh="x")
        job["loop"] = {"kind": "steps", "steps": steps, "arrivals": "uniform"}
        job["series_interval_s"], job["give_up"] = BURST_INTERVAL_S, True
        result = run_job("load", job, LoadResult)
        return read_burst(result, load, CAPACITY, OBJECTIVE, target.died())


def test_a_server_that_refuses_what_it_cannot_do_sheds() -> None:
    # 50 waiting requests take 50 ms.
    burst = burst_on("sheds", "1000", "50")
    assert [step.factor for step in burst.steps] == [0.7, *FACTORS, 0.7]
    for factor in FACTORS:
        assert (burst.goodput_at(factor) or 0.0) / CAPACITY == pytest.approx(1.0, abs=0.15)
    assert set(burst.failures) == {"wrong_status"}
    assert burst.statuses["503"] == burst.failures["wrong_status"]
    assert burst.behaviour == "sheds"
    assert len(burst.timeline) == pytest.approx(8 * 0.6 / 0.2, abs=1)
    busy = [moment.goodput for moment in burst.timeline if 1.0 <= moment.t <= 2.4]
    assert sum(busy) / len(busy) == pytest.approx(CAPACITY, rel=0.15)
    assert burst_figures(burst)["recovery_time"] < 1.0


def test_a_server_that_keeps_the_work_of_clients_that_gave_up_does_not_recover_in_time() -> None:
    # The burst leaves 0.6 * (0.5 + 1 + 2) * 1,000 = 2,100 requests, and 300 per second of them are worked off.
    burst = burst_on("tokens", "1000")
    assert (burst.goodput_at(3.0) or 0.0) < 0.2 * CAPACITY
    assert burst.failures["timeout"] > 1_000
    assert burst.recovery_s is None
    assert burst.behaviour == "never recovers"
    assert "recovery_time" not in burst_figures(burst)


def test_a_server_that_ends_in_the_burst_dies() -> None:
    burst = burst_on("dies", "1000", "300")
    assert burst.died == "exited with code 3"
    assert burst.behaviour == "dies"


def test_a_death_in_the_burst_counts_as_one_and_is_named(tmp_path: Path) -> None:
    said: list[str] = []
    watcher = cast(Watcher, SimpleNamespace(say=said.append))
    bench = replace(bench_of(tmp_path), watcher=watcher)
    process = blank_process(bench, "capacity", "dies/plain", 1)
    one = StartedTogether(contender("dies", None), cast(RunningContender, None), bench, process)

    def restart(_: StartedTogether) -> None:
        raise TouchstoneError("the port is taken")

    with limited("dies", "200", "20") as target:
        seat = seat_at(target, "p99 < 150ms", closed_rate=200.0)
        seat.name, seat.ended = "dies/plain", "trials"
        seat.offer_burst(0.25, 0.4)
        search = LoadSearch(bench, "work", LOAD, OBJECTIVE, 1, [one], restart, seats=[seat])
        search._revive(seat)
    assert seat.deaths == 1, "what its first process had done is not asked of the second"
    assert seat.gone
    assert said == [
        "  dies/plain exited with code 3 in the burst; a new process takes its place",
        "  dies/plain: the server exited with code 3 in the burst, and the process in its place failed: "
        "the port is taken",
    ]


def evidence(goodput: float, recovery_s: float | None) -> BurstEvidence:
    steps = [BurstStep(factor=2.0, rate=2_000.0, seconds=1.0, goodput=goodput, errors=0)]
    return BurstEvidence(
        deadline_s=0.1,
        capacity=CAPACITY,
        connections=64,
        steps=steps,
        failures={},
        statuses={},
        recovery_s=recovery_s,
    )


@pytest.mark.parametrize(
    ("goodput", "recovery_s", "named"),
    [(950.0, 0.1, "sheds"), (500.0, 0.1, "queues"), (50.0, 0.1, "collapses"), (950.0, None, "never recovers")],
)
def test_a_behaviour_has_its_name(goodput: float, recovery_s: float | None, named: str) -> None:
    assert evidence(goodput, recovery_s).behaviour == named


def test_what_took_no_longer_than_a_deadline_is_read_off_the_curve() -> None:
    latency = Distribution(count=1_000, curve=[(0.0, 0.01), (0.5, 0.1), (1.0, 0.3)])
    assert within(latency, 0.005) == 0.0
    assert within(latency, 0.1) == pytest.approx(500.0)
    assert within(latency, 0.2) == pytest.approx(750.0)
    assert within(latency, 1.0) == 1_000.0
    assert within(Distribution(), 1.0) == 0.0


def series(*late: int) -> list[Point]:
    """Five seconds at 100 requests per second; the intervals with these numbers are late."""
    return [Point(t=BURST_INTERVAL_S * (n + 1), sent=5, ok=5, p99=2.0 if n in late else 0.01) for n in range(100)]


@pytest.mark.parametrize(
    ("late", "seconds"), [((), 0.0), (range(20, 40), 1.0), ((50,), 0.0), (range(20, 90), None), (range(80, 100), 0.0)]
)
def test_recovery_is_the_first_second_in_which_requests_are_answered_in_time(
    late: tuple[int, ...], seconds: float | None
) -> None:
    assert recovery(series(*late), 1.0, 0.05, BURST_INTERVAL_S) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize("gives_up", [False, True])
def test_a_request_that_waits_for_a_connection_beyond_the_deadline_is_not_sent(gives_up: bool) -> None:
    # One connection and a request of 20 ms: 50 of 200 requests per second get their turn.
    with limited("tokens", "50") as target:
        load = LOAD.model_copy(update={"loop": "open", "rate": 200.0, "connections": 1, "timeout_s": 0.3})
        job = load_job(load, target.url, Timing(0.0, 1.0, 0.0), cpus=[], seed=1, fresh="x")
        job["give_up"] = gives_up
        result = run_job("load", job, LoadResult)
    worst = result.latency.max or 0.0
    assert (worst > 0.7) is not gives_up, worst
    assert result.counts.sent + (result.counts.unsent or 0) == 200
