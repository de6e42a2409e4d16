from ..sound import fired, first_load, result_of, sound_run


def test_p95_stored_as_p99() -> None:
    run = sound_run()
    latency = result_of(first_load(run)).latency
    latency.p95, latency.p99 = latency.p99, latency.p95
    (finding,) = fired(run, "percentiles-not-monotone")
    assert "p95" in finding.statement


def test_a_mean_above_the_longest() -> None:
    run = sound_run()
    latency = result_of(first_load(run)).latency
    latency.mean = 2 * (latency.max or 0.0)
    assert fired(run, "percentiles-not-monotone")


def test_a_curve_that_falls() -> None:
    run = sound_run()
    result_of(first_load(run)).latency.curve = [(0.5, 0.002), (0.9, 0.001)]
    assert fired(run, "percentiles-not-monotone")


def test_equal_percentiles_are_right() -> None:
    run = sound_run()
    for name in ("p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99"):
        setattr(result_of(first_load(run)).lateness, name, 2e-6)
    assert not fired(run, "percentiles-not-monotone")
