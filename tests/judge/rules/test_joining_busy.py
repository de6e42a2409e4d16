from ..sound import fired, first_load, result_of, sound_run


def test_a_busy_joiner_is_told() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.joining_cpu_s = 0.6 * (result.window.warmup_s + result.window.measured_s + result.window.drain_s)
    (finding,) = fired(run, "joining-busy")
    assert "60" in finding.statement


def test_an_idle_joiner_is_not() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.joining_cpu_s = 0.4 * (result.window.warmup_s + result.window.measured_s + result.window.drain_s)
    assert not fired(run, "joining-busy")
