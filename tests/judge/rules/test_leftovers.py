from touchstone.judge.judgement import Severity
from touchstone.record.evidence.surroundings import LeftInWork

from ..sound import fired, first_load, sound_run


def test_rows_from_before() -> None:
    run = sound_run()
    first_load(run).dependencies[0].leftovers = ["table users held 17 rows"]
    (finding,) = fired(run, "leftovers")
    assert "17 rows" in finding.statement


def test_a_file_that_an_earlier_start_changed() -> None:
    run = sound_run()
    first_load(run).process.left_in_work = LeftInWork.model_validate({"changed": ["cache.bin"]})
    (finding,) = fired(run, "leftovers")
    assert finding.severity is Severity.SUSPECT
    assert "cache.bin" in finding.statement


def test_a_new_file_was_removed_and_is_a_note() -> None:
    run = sound_run()
    first_load(run).process.left_in_work = LeftInWork.model_validate({"removed": ["server.pid"]})
    (finding,) = fired(run, "leftovers")
    assert finding.severity is Severity.NOTE


def test_a_clean_start() -> None:
    run = sound_run()
    first_load(run).dependencies[0].leftovers = []
    first_load(run).process.left_in_work = LeftInWork()
    assert not fired(run, "leftovers")
