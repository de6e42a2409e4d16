from ..sound import fired, first_load, sound_run, watch_of


def test_a_worker_that_was_replaced() -> None:
    run = sound_run()
    points = watch_of(first_load(run)).series
    for point in points[60:]:
        point.ended_cpu_s = 0.5 * (points[60].cpu_s or 0.0)
    assert fired(run, "server-restarted")


def test_helpers_that_end() -> None:
    run = sound_run()
    for point in watch_of(first_load(run)).series[60:]:
        point.ended_cpu_s = 0.01
    assert not fired(run, "server-restarted")


def test_a_process_that_ended_before_the_load() -> None:
    run = sound_run()
    for point in watch_of(first_load(run)).series:
        point.ended_cpu_s = 5.0
    assert not fired(run, "server-restarted")
