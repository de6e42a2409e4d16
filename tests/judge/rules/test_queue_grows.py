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
