from ..sound import fired, sound_run


def test_a_program_that_was_copied_in_with_its_times() -> None:
    run = sound_run()
    sample = next(s for s in run.samples if s.phase == "build")
    assert sample.build is not None
    sample.build.older = ["server", "lib/a.jar", "lib/b.jar", "lib/c.jar"]
    (finding,) = fired(run, "artifact-older")
    assert "server, lib/a.jar, lib/b.jar and 1 more" in finding.statement
    assert finding.figures is not None
    assert "build_cold" in finding.figures
    assert "artifact_bytes" not in finding.figures


def test_a_program_that_the_build_wrote() -> None:
    run = sound_run()
    assert any(sample.build and sample.build.artifacts for sample in run.samples)
    assert not fired(run, "artifact-older")
