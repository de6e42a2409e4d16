from touchstone.judge.judgement import Severity
from touchstone.record.engine import FirstError

from ..sound import ended, fired, first_load, result_of, sound_run


def test_one_wrong_body_is_shown_with_its_reason() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    ended(result, wrong_body=1)
    error = FirstError.model_validate({"class": "wrong_body", "received": "oops", "why": "byte 0 differs"})
    result.first_errors = [error]
    (finding,) = fired(run, "wrong-bodies")
    assert finding.severity is Severity.INVALID
    assert "byte 0 differs" in finding.statement
    assert finding.evidence["first_errors"][0]["received"] == "oops"


def test_a_wrong_status_is_another_finding() -> None:
    run = sound_run()
    ended(result_of(first_load(run)), wrong_status=1)
    assert not fired(run, "wrong-bodies")
