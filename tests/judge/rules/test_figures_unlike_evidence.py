from ..sound import MIB, fired, first_load, sound_run, watch_of


def test_milliseconds_in_a_column_of_seconds() -> None:
    run = sound_run()
    first_load(run).figures["latency_p50"] *= 1000
    (finding,) = fired(run, "figures-unlike-evidence")
    assert finding.figures == ["latency_p50"]


def test_virtual_memory_under_the_name_of_memory() -> None:
    run = sound_run()
    sample = next(s for s in run.samples if s.boot)
    sample.figures["boot_rss"] = 900.0 * MIB
    (finding,) = fired(run, "figures-unlike-evidence")
    assert "virtual memory" in finding.statement


def test_shared_pages_counted_once_per_process() -> None:
    run = sound_run()
    sample = first_load(run)
    for point in watch_of(sample).series:
        point.processes, point.footprint = 4, 20 * MIB
    (finding,) = fired(run, "figures-unlike-evidence")
    assert finding.figures == ["rss_peak"]


def test_a_figure_within_the_tolerance() -> None:
    run = sound_run()
    first_load(run).figures["latency_p50"] *= 1.019
    assert not fired(run, "figures-unlike-evidence")
