from ..sound import fired, first_load, sound_run, watch_of


def test_an_exit_that_the_lab_saw() -> None:
    run = sound_run()
    first_load(run).process.server_exit = "killed by signal 9"
    (finding,) = fired(run, "server-died")
    assert "signal 9" in finding.statement


def test_a_tree_without_processes_during_the_load() -> None:
    run = sound_run()
    for point in watch_of(first_load(run)).series[60:]:
        point.processes = 0
    (finding,) = fired(run, "server-died")
    assert "no process was left" in finding.statement


def test_a_server_that_lost_a_helper() -> None:
    run = sound_run()
    series = watch_of(first_load(run)).series
    for point in series[: len(series) // 2]:
        point.processes = 2
    for point in series[len(series) // 2 :]:
        point.processes = 1
    assert not fired(run, "server-died")
