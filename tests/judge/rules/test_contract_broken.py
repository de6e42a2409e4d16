from touchstone.judge.judge import judge
from touchstone.judge.judgement import Verdict
from touchstone.record.sample import Exchange

from ..sound import fired, sound_run


def test_a_broken_check_spoils_every_figure_of_the_contender() -> None:
    run = sound_run()
    sample = next(s for s in run.samples if s.phase == "verify" and s.contender == "go/std")
    sample.checks[0].passed = False
    sample.checks[0].broken = [Exchange(request="GET /nothing", expected="404", received="200")]
    (finding,) = fired(run, "contract-broken")
    assert "GET /nothing: expected 404, received 200" in finding.statement
    judgement = judge(run)
    assert {e.verdict for e in judgement.estimates if e.contender == "go/std"} == {Verdict.INVALID}
    assert {e.verdict for e in judgement.estimates if e.contender == "rust/std"} == {Verdict.VALID}


def test_a_check_that_held_with_remarks() -> None:
    run = sound_run()
    sample = next(s for s in run.samples if s.phase == "verify" and s.contender == "go/std")
    sample.checks[0].broken = [Exchange(request="GET /nothing", expected="404", received="404")]
    assert not fired(run, "contract-broken")
