from ..sound import fired, first_load, sound_run, watch_of


def test_a_server_that_waits_for_the_disk() -> None:
    run = sound_run()
    watch_of(first_load(run)).window.major_faults = 2000
    assert fired(run, "major-faults")


def test_a_few_late_pages() -> None:
    run = sound_run(seconds=2.0)
    watch_of(first_load(run)).window.major_faults = 30
    assert not fired(run, "major-faults")
