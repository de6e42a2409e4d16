from touchstone.judge.judgement import Severity

from ..sound import fired, first_load, result_of, sound_run, watch_of


def test_a_busy_engine_before_an_idle_server() -> None:
    run = sound_run()
    sample = first_load(run)
    result_of(sample).generator.threads[0].busy = 0.99
    watch_of(sample).window.cpu_s = 5.0
    (finding,) = fired(run, "generator-saturated")
    assert finding.severity is Severity.INVALID
    assert finding.figures is not None
    assert "rss_peak" not in finding.figures


def test_a_busy_engine_before_a_busy_server_is_no_bottleneck() -> None:
    run = sound_run()
    result_of(first_load(run)).generator.threads[0].busy = 0.99
    assert not fired(run, "generator-saturated")


def test_a_single_threaded_server_is_full_at_one_cpu() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.process.placement.server_cpus = [0, 2, 3]
    for point in watch_of(sample).series:
        point.threads = 1
    result_of(sample).generator.threads[0].busy = 0.99
    assert not fired(run, "generator-saturated")
