from ..sound import codes, fired, first_load, result_of, sound_run


def test_a_step_against_the_monotonic_clock() -> None:
    run = sound_run()
    first_load(run).detail["machine"] = {"wall_s": 25.0, "monotonic_s": 15.0}
    (finding,) = fired(run, "clock-stepped")
    assert "10 s" in finding.statement


def test_a_load_that_began_before_its_sample() -> None:
    run = sound_run()
    result_of(first_load(run)).window.start_unix_s -= 3600
    assert fired(run, "clock-stepped")


def test_a_time_daemon_that_slews() -> None:
    run = sound_run()
    first_load(run).detail["machine"] = {"wall_s": 15.005, "monotonic_s": 15.0}
    assert codes(run) == set()
