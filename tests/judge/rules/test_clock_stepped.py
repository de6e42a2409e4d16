from touchstone.record.evidence.surroundings import MachineState
from touchstone.record.watch import WallClock

from ..sound import codes, fired, first_load, result_of, sound_run, watch_of


def test_a_step_against_the_monotonic_clock() -> None:
    run = sound_run()
    first_load(run).machine = MachineState.model_validate({"wall_s": 25.0, "monotonic_s": 15.0})
    (finding,) = fired(run, "clock-stepped")
    assert "10 s" in finding.statement


def test_a_load_that_began_before_its_sample() -> None:
    run = sound_run()
    result_of(first_load(run)).window.start_unix_s -= 3600
    assert fired(run, "clock-stepped")


def test_a_time_daemon_that_slews() -> None:
    run = sound_run()
    first_load(run).machine = MachineState.model_validate({"wall_s": 15.005, "monotonic_s": 15.0})
    assert codes(run) == set()


def test_a_clock_that_was_set_and_put_back_within_the_window() -> None:
    run = sound_run()
    watch_of(first_load(run)).wall_clock = WallClock(step_s=-0.11, t=3.2, range_s=0.11)
    (finding,) = fired(run, "clock-stepped")
    assert "3.2 s after" in finding.statement


def test_a_correction_of_a_tenth_of_a_second() -> None:
    run = sound_run()
    watch_of(first_load(run)).wall_clock = WallClock(step_s=0.1, t=3.2, range_s=0.1)
    assert codes(run) == set()
