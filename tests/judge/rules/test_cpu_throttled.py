from ..sound import fired, first_load, sound_run, watch_of


def test_a_quota_that_cut_the_window() -> None:
    run = sound_run()
    watch_of(first_load(run)).window.throttled_s = 1.0
    (finding,) = fired(run, "cpu-throttled")
    assert "1 s of 10 s" in finding.statement


def test_a_millisecond_is_nothing() -> None:
    run = sound_run()
    watch_of(first_load(run)).window.throttled_s = 0.001
    assert not fired(run, "cpu-throttled")
