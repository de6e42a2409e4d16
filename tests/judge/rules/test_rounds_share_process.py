from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity, Verdict

from ..sound import fired, sound_run


def test_a_service_that_ran_already_is_one_process_in_all_rounds() -> None:
    run = sound_run()
    run.plan.contenders[0].outside = "http://127.0.0.1:8080"
    (finding,) = fired(run, "rounds-share-process")
    assert finding.severity is Severity.NOTE
    assert finding.contender == run.plan.contenders[0].name
    assert judge(run).verdict is Verdict.VALID


def test_a_single_round_shares_nothing() -> None:
    run = sound_run(rounds=1)
    run.plan.contenders[0].outside = "http://127.0.0.1:8080"
    assert not fired(run, "rounds-share-process")
    assert not fired(sound_run(), "rounds-share-process")
