import math

import pytest

from touchstone.record.run import Run

from ..slices import SLICE_S, put_slices
from ..sound import codes, fired, first_load, loads, result_of, sound_run, watch_of

RATE = 20_000
LOOKS_S = 0.1


def leaking(every: int) -> Run:
    """A run in which one in `every` requests leaves a descriptor, for 12 s of load."""
    run = sound_run()
    for number, point in enumerate(watch_of(loads(run, "go/std")[0]).series):
        point.fds = 76 + int(number * LOOKS_S * RATE) // every
    return run


@pytest.mark.parametrize("every", [1, 50, 9_000])
def test_a_descriptor_for_every_so_many_requests(every: int) -> None:
    (finding,) = fired(leaking(every), "descriptors-grow")
    assert finding.contender == "go/std"
    assert "per request" in finding.statement or "one for every" in finding.statement


def test_sixteen_may_be_the_runtimes_own() -> None:
    # 160,000 requests in the last two thirds of the load.
    assert not fired(leaking(10_500), "descriptors-grow")


def test_connections_that_were_opened_anew_may_be_there_twice() -> None:
    run = leaking(5_000)
    result_of(loads(run, "go/std")[0]).connections.reconnects = 40
    assert not fired(run, "descriptors-grow")


def test_a_pool_that_fills_ever_more_slowly() -> None:
    run = sound_run()
    for number, point in enumerate(watch_of(loads(run, "go/std")[0]).series):
        point.fds = 76 + int(300 * (1 - math.exp(-number / 30)))
    assert codes(run) == set()


@pytest.mark.parametrize(("every", "expected"), [(100, 1), (1_000, 0)])
def test_a_slow_server_in_the_turns_of_a_quick_run(every: int, expected: int) -> None:
    run = sound_run()
    sample = loads(run, "go/std")[0]
    put_slices(sample, [2_000.0] * 14)
    assert sample.slices is not None
    points, seen = watch_of(sample).series, []
    for number, turn in enumerate(sample.slices.slices):
        for look in range(3):
            answered = number * turn.completed + turn.completed * look // 3
            place = {"t": turn.begin + SLICE_S * look / 3, "phase": "load", "fds": 76 + answered // every}
            seen.append(points[0].model_copy(update=place))
    watch_of(sample).series = seen
    assert len(fired(run, "descriptors-grow")) == expected


def test_a_pool_that_fills_late() -> None:
    run = sound_run()
    for number, point in enumerate(watch_of(first_load(run)).series):
        point.fds = 76 + min(2 * number, 120)
    assert codes(run) == set()


def test_a_peak_near_the_limit_that_came_at_once() -> None:
    run = sound_run()
    window = watch_of(first_load(run)).window
    window.fds_peak, window.fd_limit = 18_000, 20_000
    (finding,) = fired(run, "descriptors-grow")
    assert "its limit of 20,000" in finding.statement


def test_a_peak_just_below_nine_tenths_of_the_limit() -> None:
    run = sound_run()
    window = watch_of(first_load(run)).window
    window.fds_peak, window.fd_limit = 17_999, 20_000
    assert codes(run) == set()


def test_a_low_limit_that_only_the_connections_come_near() -> None:
    run = sound_run()
    window = watch_of(first_load(run)).window
    window.fds_peak, window.fd_limit = 160, 170
    assert codes(run) == set()
