from itertools import pairwise

import pytest

from touchstone.judge.reading.growth import under_load

from ..sound import codes, fired, first_load, loads, sound_run, watch_of


def test_a_thread_for_every_request() -> None:
    run = sound_run()
    for number, point in enumerate(watch_of(first_load(run)).series):
        point.threads = 8 + 10 * number
    assert fired(run, "threads-grow")


@pytest.mark.parametrize(("every", "expected"), [(9_000, 1), (10_500, 0)])
def test_a_thread_for_every_so_many_requests(every: int, expected: int) -> None:
    # At 20,000 requests per second, 160,000 in the last two thirds of the load: sixteen may be the runtime's own.
    run = sound_run()
    for number, point in enumerate(watch_of(loads(run, "go/std")[0]).series):
        point.threads = 8 + number * 2_000 // every
    assert len(fired(run, "threads-grow")) == expected


def test_a_thread_for_every_connection() -> None:
    run = sound_run()
    for sample in loads(run):
        for number, point in enumerate(watch_of(sample).series):
            point.threads = 8 + min(64, 10 * number)
    assert codes(run) == set()


def test_the_time_in_which_it_rests_is_not_counted() -> None:
    run = sound_run()
    sample = first_load(run)
    series = watch_of(sample).series
    # Turns at uneven distances, as in slices: each thread belongs to a request, and none to the rests between.
    for number, point in enumerate(series):
        turn = number // 3
        point.t += turn * 2.0 + (turn % 4) * 5.0
        point.threads = 8 + 3 * number
    steps = [t for t, _ in under_load(sample, lambda point: point.threads)]
    assert max(b - a for a, b in pairwise(steps)) < 0.2
    assert fired(run, "threads-grow")
