from ..sound import fired, first_load, sound_run


def test_a_missing_round() -> None:
    run = sound_run()
    run.samples.remove(first_load(run))
    (finding,) = fired(run, "rounds-incomplete")
    assert finding.evidence["rounds"] == [1]


def test_a_round_beyond_the_plan() -> None:
    run = sound_run()
    run.plan.rounds -= 1
    assert not fired(run, "rounds-incomplete")
