from touchstone.record.generator import GeneratorUse

from ..sound import fired, first_load, result_of, sound_run


def test_a_generator_that_began_late_is_named() -> None:
    run = sound_run()
    result_of(first_load(run)).generators = [
        GeneratorUse(name="one", began_s=0.0001, clock_residual_s=0.0002),
        GeneratorUse(name="two", began_s=0.0061, clock_residual_s=0.0002),
    ]
    (finding,) = fired(run, "generators-apart")
    assert "two" in finding.statement and "one" in finding.statement


def test_clocks_that_cannot_be_compared_are_no_common_start() -> None:
    run = sound_run()
    result_of(first_load(run)).generators = [
        GeneratorUse(name="one", clock_residual_s=0.003),
        GeneratorUse(name="two", clock_residual_s=0.003),
    ]
    assert fired(run, "generators-apart")


def test_generators_within_the_limit_are_together() -> None:
    run = sound_run()
    result_of(first_load(run)).generators = [
        GeneratorUse(name="one", began_s=0.0001, clock_residual_s=0.0004),
        GeneratorUse(name="two", began_s=0.0041, clock_residual_s=0.0004),
    ]
    assert not fired(run, "generators-apart")
