from touchstone.judge.judgement import Severity

from ..sound import codes, fired, loads, sound_run


def test_another_journal_mode() -> None:
    run = sound_run()
    for sample in loads(run, "go/std"):
        sample.dependencies[0].settings["journal_mode"] = "DELETE"
        sample.dependencies[0].asked = {}
    (finding,) = fired(run, "dependency-settings-unequal")
    assert finding.severity is Severity.INVALID
    assert "delete for go/std" in finding.statement
    assert finding.contender == "go/std"  # the two others agree


def test_another_spelling() -> None:
    run = sound_run()
    for sample in loads(run, "go/std"):
        sample.dependencies[0].settings["journal_mode"] = "wal"
    assert codes(run) == set()
