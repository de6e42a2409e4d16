from ..sound import fired, loads, sound_run


def test_another_program_in_a_later_round() -> None:
    run = sound_run()
    for number, sample in enumerate(loads(run)):
        sample.process.artifacts = {"server": "a" * 64 if number < 5 else "b" * 64}
    first = loads(run)[0].contender
    assert first in {finding.contender for finding in fired(run, "artifact-changed")}


def test_the_same_throughout() -> None:
    run = sound_run()
    for sample in loads(run):
        sample.process.artifacts = {"server": sample.contender}
    assert not fired(run, "artifact-changed")


def test_what_training_adds_is_no_change() -> None:
    run = sound_run()
    for sample in run.samples:
        sample.process.artifacts = {"server": "before" if sample.phase == "build" else "after"}
    assert not fired(run, "artifact-changed")
