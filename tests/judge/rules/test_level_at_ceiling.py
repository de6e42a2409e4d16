from ..sound import codes, fired, loads, sound_run, watch_of


def test_two_that_end_level_with_cpu_to_spare() -> None:
    run = sound_run(tare_rate=20_500.0, contenders={"go/std": 20_000.0, "rust/std": 20_100.0, "kotlin/jvm": 9_000.0})
    for sample in loads(run):
        if sample.contender != "kotlin/jvm":
            watch_of(sample).window.cpu_s = 6.0
    findings = fired(run, "level-at-ceiling")
    assert {f.contender for f in findings} == {"go/std", "rust/std"}
    assert all(f.doubt and f.doubt.presses and f.doubt.faster is None for f in findings)


def test_two_equal_servers_below_the_ceiling() -> None:
    run = sound_run(contenders={"go/std": 20_000.0, "rust/std": 20_000.0})
    assert codes(run) == set()
