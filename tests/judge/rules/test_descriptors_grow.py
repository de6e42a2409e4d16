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
