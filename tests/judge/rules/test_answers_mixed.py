from touchstone.judge.judgement import Severity
from touchstone.record.sample import MixedAnswer

from ..sound import fired, first_load, sound_run


def test_a_response_of_another_key_is_named_with_both() -> None:
    run = sound_run()
    first_load(run).mixed_answers = [MixedAnswer(target="/?name=ada", received="Hello bob", fits="bob")]
    (finding,) = fired(run, "answers-mixed")
    assert (finding.contender, finding.severity) == (first_load(run).contender, Severity.INVALID)
    assert "/?name=ada" in finding.statement and "'Hello bob'" in finding.statement


def test_without_one_nothing_is_said() -> None:
    assert not fired(sound_run(), "answers-mixed")
