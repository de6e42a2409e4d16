from ..sound import fired, first_load, result_of, sound_run


def test_a_tenth_of_the_machine_stolen() -> None:
    run = sound_run()
    result_of(first_load(run)).machine.steal_s = 2.0
    assert fired(run, "cpu-stolen")


def test_a_little_steal_is_usual_on_a_virtual_machine() -> None:
    run = sound_run()
    result_of(first_load(run)).machine.steal_s = 0.1
    assert not fired(run, "cpu-stolen")
