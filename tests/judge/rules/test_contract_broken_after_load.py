from touchstone.judge.judgement import Severity
from touchstone.record.sample import CheckOutcome

from ..sound import fired, first_load, sound_run


def test_a_check_that_fails_after_the_load() -> None:
    run = sound_run()
    first_load(run).checks = [CheckOutcome(id="ready", says="it still answers", passed=False)]
    (finding,) = fired(run, "contract-broken-after-load")
    assert finding.severity is Severity.INVALID
    assert "'ready'" in finding.statement
    assert "one of several worker processes" in finding.next_step
    assert "ran out" in finding.next_step


def test_a_check_that_holds_after_the_load() -> None:
    run = sound_run()
    first_load(run).checks = [CheckOutcome(id="ready", says="it still answers", passed=True)]
    assert not fired(run, "contract-broken-after-load")
