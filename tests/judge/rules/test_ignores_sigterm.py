from touchstone.judge.judgement import Severity

from ..sound import fired, sound_run


def test_a_server_that_had_to_be_killed() -> None:
    run = sound_run()
    boot = next(s.boot for s in run.samples if s.boot)
    boot.runs[0].stopped = "sigkill"
    (finding,) = fired(run, "ignores-sigterm")
    assert finding.severity is Severity.NOTE


def test_a_server_that_ended_when_it_was_asked_to() -> None:
    run = sound_run()
    boot = next(s.boot for s in run.samples if s.boot)
    boot.runs[0].stopped = "sigterm"
    assert not fired(run, "ignores-sigterm")
