import pytest

from ..slices import put_slices
from ..sound import fired, first_load, result_of, sound_run


def test_a_queue_that_grows_to_the_end() -> None:
    run = sound_run(offered=1000.0)
    for number, point in enumerate(p for p in result_of(first_load(run)).series if p.phase == "load"):
        point.queue = 50 * (number + 1)
    assert fired(run, "queue-grows")


def test_a_burst_that_drains() -> None:
    run = sound_run(offered=1000.0)
    points = [p for p in result_of(first_load(run)).series if p.phase == "load"]
    points[4].queue = 500
    assert not fired(run, "queue-grows")


@pytest.mark.parametrize(
    ("queue", "found"), [([70, 90, 80, 0, 70], 1), ([0, 90, 0, 80, 0], 0), ([3, 64, 3, 64, 64], 0)]
)
def test_a_queue_at_the_end_of_most_slices_has_grown_in_each(queue: list[int], found: int) -> None:
    run = sound_run(offered=1000.0)
    sample = first_load(run)
    put_slices(sample, [1000.0] * len(queue))
    series = result_of(sample).series
    points = [p for p in series if p.phase == "load"][: len(queue)]
    for point, length in zip(points, queue, strict=True):
        point.queue = length
    series[:] = points
    assert len(fired(run, "queue-grows")) == found


def test_slices_without_a_queue_are_sound() -> None:
    run = sound_run(offered=1000.0)
    put_slices(first_load(run), [1000.0] * 8)
    assert not fired(run, "queue-grows")
