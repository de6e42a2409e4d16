import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity, Verdict

from ..sound import fired, sound_run


def test_one_round_is_suspect() -> None:
    run = sound_run(rounds=1)
    findings = fired(run, "too-few-rounds")
    assert len(findings) == 3
    assert {f.severity for f in findings} == {Severity.SUSPECT}
    assert judge(run).verdict is Verdict.SUSPECT


@pytest.mark.parametrize("rounds", [2, 3])
def test_a_few_rounds_are_a_note(rounds: int) -> None:
    run = sound_run(rounds=rounds)
    assert {f.severity for f in fired(run, "too-few-rounds")} == {Severity.NOTE}
    assert judge(run).verdict is Verdict.VALID


def test_four_rounds_are_enough() -> None:
    assert not fired(sound_run(rounds=4), "too-few-rounds")
