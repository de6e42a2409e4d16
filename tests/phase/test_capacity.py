"""Trials and searches against servers of known capacity, with the real engine."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil
import pytest
from benchmarks.calibration.limited import found, limited, seat_at

from touchstone.manifest.objective import parse_objective
from touchstone.phase.capacity.trial import GROWS, backlog, lowest_rate, read_trial, seconds_for
from touchstone.record.distribution import Distribution
from touchstone.record.engine import Counts, Errors, LoadResult, Point, Window
from touchstone.record.generator import Generator, Thread

STRICT = "p99 < 50ms, errors < 0.1%"


def points(counts: list[tuple[int, int]]) -> list[Point]:
    return [Point(t=0.1 * (i + 1), sent=sent, ok=ok) for i, (sent, ok) in enumerate(counts)]


def test_what_stays_behind_in_every_interval_is_a_backlog_and_a_stall_is_none() -> None:
    assert backlog(points([(100, 95)] * 20), 1000.0) == pytest.approx(0.05)
    stalled = [(100, 100)] * 9 + [(100, 0), (100, 200)] + [(100, 100)] * 9
    assert backlog(points(stalled), 1000.0) == pytest.approx(0.0)
    assert backlog(points([(100, 95)] * 4), 1000.0) is None


def test_requests_that_gather_until_a_server_has_settled_are_no_backlog() -> None:
    held = [round(150 * (1 - 0.8**interval)) for interval in range(1, 25)]
    gathered = [after - before for before, after in zip([0, *held], held, strict=False)]
    assert (growth := backlog(points([(100, 100 - more) for more in gathered]), 1000.0)) is not None
    assert growth < GROWS


def test_a_trial_is_as_long_as_its_percentile_needs_and_no_rate_below_is_tried() -> None:
    assert seconds_for(parse_objective("p99 < 1s"), 10_000.0, 1.5) == 1.5
    assert seconds_for(parse_objective("p99.9 < 1s"), 2_000.0, 1.5) == 5.0
    assert seconds_for(parse_objective("p99 < 1s"), 20.0, 1.5) == 50.0
    assert seconds_for(parse_objective("p50 < 1s"), 20.0, 1.5) == 5.0


def test_only_the_search_of_a_slow_service_goes_down_to_where_a_trial_takes_a_minute() -> None:
    objective = parse_objective("p99 < 1s")
    assert lowest_rate(objective, closed_rate=30_000.0) == 100.0
    assert lowest_rate(objective, closed_rate=600.0) == 30.0
    assert lowest_rate(objective, closed_rate=60.0) == lowest_rate(objective) == pytest.approx(1_000 / 60)


def test_the_knee_of_a_token_server_is_its_tokens() -> None:
    for _ in range(3):
        with limited("tokens", "1500") as target:
            seat = found(seat_at(target, STRICT, closed_rate=1_500.0, width=0.06))
        if seat.ended != "generator":
            break  # Where a busy machine delays the engine, the search says so: it is made again.
    assert seat.ended in ("found", "trials")
    assert seat.capacity == pytest.approx(1_500.0, rel=0.1), "loose: a neighbour may take the CPU"
    assert any("grew by" in trial.why or "p99 was" in trial.why for trial in seat.trials)


def test_an_objective_below_what_the_server_takes_when_idle_is_met_at_no_rate() -> None:
    with limited("grows", "30", "1") as target:
        seat = found(seat_at(target, "p50 < 20ms, errors < 10%", closed_rate=300.0, trial_s=0.5))
    assert seat.ended == "nothing holds"
    assert seat.capacity is None


def test_a_server_that_dies_past_its_knee_says_where() -> None:
    with limited("dies", "1500", "120") as target:
        seat = seat_at(target, STRICT, closed_rate=4_000.0)
        while seat.ended is None and not target.died():
            seat.step()
    assert target.died()
    assert seat.dies_at is not None
    assert seat.dies_at > 1_500.0
    assert seat.death == "exited with code 3"
    assert seat.search.ceiling < seat.dies_at
    assert seat.search.next_rate() < seat.dies_at


@contextmanager
def stuttering_engine() -> Iterator[None]:
    """Every engine that is started meanwhile stands still for a tenth of a second in every quarter."""
    over = threading.Event()

    def engines_now() -> Iterator[psutil.Process]:
        for child in psutil.Process().children():
            with suppress(psutil.NoSuchProcess):  # It may have ended since.
                if child.name().startswith("touchstone-engi"):
                    yield child

    def stutter() -> None:
        while not over.wait(0.15):
            engines = list(engines_now())
            for how in (signal.SIGSTOP, signal.SIGCONT):
                for engine in engines:
                    with suppress(psutil.NoSuchProcess):
                        engine.send_signal(how)
                over.wait(0.1 if how is signal.SIGSTOP else 0.0)

    thread = threading.Thread(target=stutter)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_what_the_generator_cannot_offer_is_never_the_servers_knee() -> None:
    """What was due while it stood still leaves in a bunch, of which each waits for those before it."""
    with limited("tokens", "100000") as target, stuttering_engine():
        seat = found(seat_at(target, "p99 < 0.2ms, errors < 1%", closed_rate=800.0, trial_s=0.5, trials=6))
    assert seat.ended == "generator"
    assert not any(trial.held is False for trial in seat.trials)
    assert any("late" in trial.why for trial in seat.trials)


@pytest.mark.parametrize(("busy", "delayed_s", "blamed"), [(0.98, 0.0, True), (0.3, 1.36, True), (0.3, 0.9, False)])
def test_an_engine_that_works_or_waits_for_a_cpu_all_the_time_is_full(
    busy: float, delayed_s: float, blamed: bool
) -> None:
    slow = Distribution(count=2_000, p50=0.05, p99=0.2)
    result = LoadResult(
        window=Window(measured_s=2.0),
        counts=Counts(sent=2_000, completed=2_000, ok=2_000),
        latency=slow,
        generator=Generator(threads=[Thread(busy=busy, delayed_s=delayed_s)]),
    )
    trial = read_trial(result, parse_objective(STRICT), 1_000.0, 1, "search")
    assert trial.held is (None if blamed else False)
    assert ("the engine worked" in trial.why) is blamed


@pytest.mark.parametrize(("errors", "held"), [(Errors(wrong_status=20), False), (Errors(timeout=20), None)])
def test_a_refusal_is_the_servers_own_however_late_its_request_was_sent(errors: Errors, held: bool | None) -> None:
    """A server that refuses above its limit, on a machine on which sending is late by some milliseconds."""
    result = LoadResult(
        window=Window(measured_s=2.0),
        counts=Counts(
            sent=2_000,
            completed=2_000 - errors.timeout,
            ok=1_980,
            wrong=errors.wrong_status,
            failed=errors.timeout,
            errors=errors,
        ),
        latency=Distribution(count=1_980, p50=0.0003, p99=0.004),
        lateness=Distribution(count=2_000, p99=0.003),
        generator=Generator(threads=[Thread(busy=0.1, delayed_s=0.1)]),
    )
    assert read_trial(result, parse_objective(STRICT), 1_000.0, 1, "search").held is held


def test_keys_of_requests_are_used_once_over_all_trials() -> None:
    with limited("tokens", "5000") as target:
        seat = seat_at(target, STRICT, closed_rate=5_000.0)
        first = seat.counter
        seat.offer(2_000.0, "search", 0.5)
        assert seat.counter >= first + seat.trials[0].sent + 600
        assert seat.trials[0].stolen_cpus is not None, "the host's part is kept, as others' is"
