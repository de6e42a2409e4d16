from touchstone.judge.judgement import Severity

from ..sound import fired, first_load, sound_run


def test_rows_from_before() -> None:
    run = sound_run()
    first_load(run).dependencies[0].leftovers = ["table users held 17 rows"]
    (finding,) = fired(run, "leftovers")
    assert "17 rows" in finding.statement


def test_a_file_that_an_earlier_start_changed() -> None:
    run = sound_run()
    first_load(run).detail["left_in_work"] = {"changed": ["cache.bin"]}
    (finding,) = fired(run, "leftovers")
    assert finding.severity is Severity.SUSPECT
    assert "cache.bin" in finding.statement


def test_a_new_file_was_removed_and_is_a_note() -> None:
    run = sound_run()
    first_load(run).detail["left_in_work"] = {"removed": ["server.pid"]}
    (finding,) = fired(run, "leftovers")
    assert finding.severity is Severity.NOTE
