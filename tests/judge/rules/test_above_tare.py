from ..sound import codes, fired, first_load, result_of, sound_run


def test_more_than_a_server_that_does_nothing() -> None:
    run = sound_run(tare_rate=10_000.0)
    assert {f.contender for f in fired(run, "above-tare")} == {"go/std", "rust/std", "kotlin/jvm"}


def test_a_latency_that_no_server_has() -> None:
    run = sound_run(offered=1000.0)
    sample = first_load(run)
    latency = result_of(sample).latency
    latency.p50 = sample.figures["latency_p50"] = 0.3 * (latency.p50 or 0.0)
    assert fired(run, "above-tare")


def test_noise_above_the_tare() -> None:
    assert codes(sound_run(tare_rate=18_000.0, contenders={"go/std": 20_000.0})) == set()
