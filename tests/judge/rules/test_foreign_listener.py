from ..sound import fired, first_load, sound_run


def test_a_port_held_by_another() -> None:
    run = sound_run()
    first_load(run).process.foreign_listener = "pid 4711 (python3)"
    (finding,) = fired(run, "foreign-listener")
    assert "4711" in finding.statement


def test_boots_answered_by_another() -> None:
    run = sound_run()
    boot = next(s.boot for s in run.samples if s.boot)
    boot.runs[0].answered_by_ours = False
    (finding,) = fired(run, "foreign-listener")
    assert "1 of 20" in finding.statement


def test_a_boot_whose_answerer_is_not_known() -> None:
    run = sound_run()
    boot = next(s.boot for s in run.samples if s.boot)
    boot.runs[0].answered_by_ours = None
    assert not fired(run, "foreign-listener")
