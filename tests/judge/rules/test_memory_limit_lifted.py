from ..sound import fired, first_load, sound_run


def test_a_limit_that_is_higher_at_the_end() -> None:
    run = sound_run()
    first_load(run).detail["confinement"] = [{"memory_limit": 1 << 62}, {}]
    (finding,) = fired(run, "memory-limit-lifted")
    assert "in 1 starts" in finding.statement
