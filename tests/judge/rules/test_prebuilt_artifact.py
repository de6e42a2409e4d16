from ..sound import fired, sound_run


def test_a_program_that_lay_among_the_sources() -> None:
    run = sound_run()
    sample = next(s for s in run.samples if s.phase == "build")
    assert sample.build is not None
    sample.build.prebuilt = ["server"]
    (finding,) = fired(run, "prebuilt-artifact")
    assert finding.figures is not None
    assert "build_cold" in finding.figures
    assert "artifact_bytes" not in finding.figures


def test_a_program_that_was_built() -> None:
    run = sound_run()
    assert any(sample.build and sample.build.artifacts for sample in run.samples)
    assert not fired(run, "prebuilt-artifact")
