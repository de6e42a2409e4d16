from ..sound import fired
from ..stops import stopped


def test_a_second_process_that_does_not_start() -> None:
    run = stopped("rolling", failure="no second process ran beside it", second_failure="it ended: the file is locked")
    (finding,) = fired(run, "second-process-fails")
    assert "the file is locked" in finding.statement


def test_a_second_process_that_ends_too_early() -> None:
    (finding,) = fired(stopped("rolling", second_exit="exit code 1"), "second-process-fails")
    assert "exit code 1" in finding.statement


def test_a_second_process_that_serves() -> None:
    assert not fired(stopped("rolling"), "second-process-fails")
