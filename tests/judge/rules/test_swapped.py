from touchstone.record.evidence.surroundings import MachineState

from ..sound import codes, fired, first_load, sound_run


def test_pages_from_swap() -> None:
    run = sound_run()
    first_load(run).machine = MachineState.model_validate({"swap_in_pages": 4000, "swap_out_pages": 100})
    assert fired(run, "swapped")


def test_a_few_pages_of_sleepers() -> None:
    run = sound_run()
    first_load(run).machine = MachineState.model_validate({"swap_in_pages": 0, "swap_out_pages": 40})
    assert codes(run) == set()
