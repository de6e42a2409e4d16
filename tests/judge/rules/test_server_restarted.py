from ..sound import fired, first_load, sound_run, watch_of


def test_a_worker_that_was_replaced() -> None:
    run = sound_run()
    points = watch_of(first_load(run)).series
    for point in points[60:]:
        point.cpu_s = (point.cpu_s or 0.0) - (points[60].cpu_s or 0.0) + 0.01
    assert fired(run, "server-restarted")


def test_a_helper_that_ends() -> None:
    run = sound_run()
    for point in watch_of(first_load(run)).series[60:]:
        point.cpu_s = (point.cpu_s or 0.0) - 0.11
    assert not fired(run, "server-restarted")
