from ..sound import codes, fired, sound_run


def test_a_build_with_a_warm_cache() -> None:
    run = sound_run()
    build = run.samples[0].build
    assert build is not None
    build.cold = False
    (finding,) = fired(run, "build-not-cold")
    assert finding.figures is not None and "build_warm" not in finding.figures


def test_a_build_without_proof() -> None:
    run = sound_run()
    build = run.samples[0].build
    assert build is not None
    build.cold_proof = []
    assert fired(run, "build-not-cold")


def test_a_cold_build_kept_from_an_earlier_run() -> None:
    run = sound_run()
    for sample in run.samples:
        if sample.build:
            sample.build.cached = True
    assert codes(run) == set()
