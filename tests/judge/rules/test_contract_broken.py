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


def test_a_broken_check_names_the_log_of_that_start() -> None:
    run = sound_run()
    sample = next(s for s in run.samples if s.phase == "verify" and s.contender == "go/std")
    sample.checks[0].passed = False
    sample.process.log = "logs/0002-verify-go.std.log"
    (finding,) = fired(run, "contract-broken")
    assert "logs/0002-verify-go.std.log in the run's folder" in finding.next_step
    sample.process.log_bytes = 0
    (finding,) = fired(run, "contract-broken")
    assert "log" not in finding.next_step, "it wrote nothing"
    sample.process.log_bytes = None
    sample.process.log = None
    (finding,) = fired(run, "contract-broken")
    assert "log" not in finding.next_step, "of a service that runs already the lab has none"


def test_a_check_that_held_with_remarks() -> None:
    run = sound_run()
    sample = next(s for s in run.samples if s.phase == "verify" and s.contender == "go/std")
    sample.checks[0].broken = [Exchange(request="GET /nothing", expected="404", received="404")]
    assert not fired(run, "contract-broken")
