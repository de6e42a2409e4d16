from touchstone.judge.judgement import Severity

from ..sound import fired, loads, sound_run


def test_what_was_left_out_in_each_round_is_told_once() -> None:
    run = sound_run()
    name = run.plan.contenders[0].name
    for sample in loads(run):
        if sample.contender == name:
            sample.left_out = [f"fact {number}" for number in range(5)]
    (finding,) = fired(run, "proofs-left-out")
    assert (finding.severity, finding.contender) == (Severity.NOTE, name)
    assert finding.statement.endswith("fact 2; and 2 more")


def test_a_run_of_which_nothing_was_left_out() -> None:
    assert not fired(sound_run(), "proofs-left-out")
