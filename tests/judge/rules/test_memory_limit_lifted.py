from touchstone.record.evidence.surroundings import Confinement

from ..sound import fired, first_load, sound_run


def test_a_limit_that_is_higher_at_the_end() -> None:
    run = sound_run()
    first_load(run).confinement = [
        Confinement.model_validate({"memory_limit": 1 << 62}),
        Confinement.model_validate({}),
    ]
    (finding,) = fired(run, "memory-limit-lifted")
    assert "in 1 starts" in finding.statement


def test_an_account_of_something_else() -> None:
    run = sound_run()
    first_load(run).confinement = [Confinement(resident=1 << 20)]
    assert not fired(run, "memory-limit-lifted")
