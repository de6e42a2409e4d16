from ..sound import fired, sound_run


def test_a_cold_start_from_a_warm_cache() -> None:
    run = sound_run()
    sample = next(s for s in run.samples if s.boot)
    sample.figures["boot_first_response_cold"] = 0.02
    (finding,) = fired(run, "cache-not-cold")
    assert finding.figures == ["boot_first_response_cold"]
    assert sample.boot is not None
    sample.boot.runs[0].cold_cache = True
    assert not fired(run, "cache-not-cold")
