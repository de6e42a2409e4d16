from ..sound import codes, fired, first_load, loads, sound_run, watch_of


def test_a_thread_for_every_request() -> None:
    run = sound_run()
    for number, point in enumerate(watch_of(first_load(run)).series):
        point.threads = 8 + 10 * number
    assert fired(run, "threads-grow")


def test_a_thread_for_every_connection() -> None:
    run = sound_run()
    for sample in loads(run):
        for number, point in enumerate(watch_of(sample).series):
            point.threads = 8 + min(64, 10 * number)
    assert codes(run) == set()
