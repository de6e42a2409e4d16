from touchstone.judge.judgement import Severity

from ..sound import fired, sound_run


def test_a_window_of_two_seconds() -> None:
    assert {f.severity for f in fired(sound_run(seconds=2.0), "window-too-short")} == {Severity.NOTE}


def test_a_quick_run_is_short_by_its_name() -> None:
    run = sound_run(seconds=2.0)
    run.plan.profile = "quick"
    assert not fired(run, "window-too-short")
