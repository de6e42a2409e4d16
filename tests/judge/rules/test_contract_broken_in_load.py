from touchstone.judge.judgement import Severity
from touchstone.record.sample import CheckOutcome, Exchange

from ..sound import fired, first_load, sound_run

HELD = CheckOutcome(id="found", says="what is stored is found", passed=True)
LOST = Exchange(request="GET /find?n=a", expected="200", received="status 404, expected 200")


def test_a_check_that_fails_inside_the_load() -> None:
    run = sound_run()
    broken = CheckOutcome(id="stored", says="it is stored", passed=False, broken=[LOST])
    first_load(run).checks_in_load = [HELD, broken]
    (finding,) = fired(run, "contract-broken-in-load")
    assert finding.severity is Severity.INVALID
    assert "'stored'" in finding.statement
    assert "status 404" in finding.statement


def test_checks_that_hold_inside_the_load() -> None:
    run = sound_run()
    first_load(run).checks_in_load = [HELD]
    assert not fired(run, "contract-broken-in-load")
