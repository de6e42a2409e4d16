from ..sound import fired, first_load, sound_run, watch_of


def test_a_launcher_that_uses_no_cpu() -> None:
    run = sound_run()
    sample = first_load(run)
    watch_of(sample).window.cpu_s = 0.0
    findings = fired(run, "wrong-process-watched")
    assert findings[0].figures is not None and "rss_peak" in findings[0].figures


def test_few_requests_cost_less_than_a_tick() -> None:
    run = sound_run(offered=100.0)
    watch_of(first_load(run)).window.cpu_s = 0.0
    assert not fired(run, "wrong-process-watched")
