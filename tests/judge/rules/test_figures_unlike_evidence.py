from ..sound import MIB, fired, first_load, sound_run


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
