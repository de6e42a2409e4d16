from ..sound import fired, sound_run


def test_a_program_that_lay_among_the_sources() -> None:
    run = sound_run()
    next(s for s in run.samples if s.phase == "build").detail["prebuilt"] = ["server"]
    (finding,) = fired(run, "prebuilt-artifact")
    assert finding.figures is not None
    assert "build_cold" in finding.figures
    assert "artifact_bytes" not in finding.figures
