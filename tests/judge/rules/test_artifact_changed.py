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


def test_a_shared_library_that_was_replaced_within_the_run() -> None:
    run = sound_run()
    for number, sample in enumerate(loads(run, "go/std")):
        sample.process.mapped = {"/usr/lib/libfast.so": "a" * 16 if number < 2 else "b" * 16, "/usr/lib/libc.so.6": "c"}
    (finding,) = fired(run, "artifact-changed")
    assert finding.contender == "go/std" and "/usr/lib/libfast.so changed within the run" in finding.statement


def test_a_mapped_artifact_is_shown_once_and_a_library_of_one_start_is_no_change() -> None:
    run = sound_run()
    for number, sample in enumerate(loads(run, "go/std")):
        sample.process.artifacts = {"server": "a" * 64 if number < 2 else "b" * 64}
        sample.process.mapped = {"/work/server": str(number), f"/tmp/libextracted-{number}.so": str(number)}
    (finding,) = fired(run, "artifact-changed")
    assert finding.evidence["file"] == "server"
