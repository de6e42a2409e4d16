from ..sound import codes, fired, first_load, sound_run, watch_of


def test_a_descriptor_for_every_request() -> None:
    run = sound_run()
    for number, point in enumerate(watch_of(first_load(run)).series):
        point.fds = 76 + 20 * number
    (finding,) = fired(run, "descriptors-grow")
    assert "a second" in finding.statement


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
    assert "20,000 that it may have" in finding.statement


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
