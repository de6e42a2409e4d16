from ..sound import fired, first_load, sound_run


def test_a_thread_beyond_the_given_cpus() -> None:
    run = sound_run()
    first_load(run).detail["confinement"] = [{"beyond_cpus": [{"pid": 7, "thread": 7, "cpus": [0, 1]}]}]
    (finding,) = fired(run, "cpus-not-kept")
    assert "[0, 1]" in finding.statement
    assert "[0]" in finding.statement


def test_an_empty_account_says_nothing() -> None:
    run = sound_run()
    first_load(run).detail["confinement"] = [{}]
    assert not fired(run, "cpus-not-kept")
