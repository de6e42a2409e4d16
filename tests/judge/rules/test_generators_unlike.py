from touchstone.record.process import GeneratorPlace

from ..sound import fired, first_load, sound_run


def test_generators_of_two_kinds_are_told() -> None:
    run = sound_run()
    first_load(run).process.placement.generators = [
        GeneratorPlace(name="one", address="10.0.0.2", cpus=[0, 1], model="new"),
        GeneratorPlace(name="two", address="10.0.0.3", cpus=[0, 1], model="old"),
    ]
    (finding,) = fired(run, "generators-unlike")
    assert "two: 2 x old" in finding.statement


def test_generators_of_one_kind_are_not() -> None:
    run = sound_run()
    first_load(run).process.placement.generators = [
        GeneratorPlace(name=name, address="10.0.0.2", cpus=[0, 1], model="new") for name in ("one", "two")
    ]
    assert not fired(run, "generators-unlike")
