from touchstone.judge.judgement import Severity
from touchstone.record.process import EndingWithClients

from ..sound import fired, sound_run
from ..stops import stopped


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


def test_a_server_that_waits_for_clients_that_keep_their_connections() -> None:
    run = sound_run()
    verified = next(s for s in run.samples if s.phase == "verify")
    verified.process.ending = EndingWithClients(took_s=10.1, killed=True)
    (finding,) = fired(run, "ignores-sigterm")
    assert "while clients kept connections" in finding.statement
    assert "closeAllConnections" in finding.next_step


def test_a_server_that_ends_although_clients_keep_their_connections() -> None:
    run = sound_run()
    next(s for s in run.samples if s.phase == "verify").process.ending = EndingWithClients(took_s=5.2)
    assert not fired(run, "ignores-sigterm")


def test_a_stop_that_needed_sigkill() -> None:
    (finding,) = fired(stopped(stop_s=None), "ignores-sigterm")
    assert "10 s after SIGTERM" in finding.statement
