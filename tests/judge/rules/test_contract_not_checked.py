from touchstone.judge.judgement import Severity
from touchstone.record.sample import Failure

from ..sound import fired, sound_run


def test_a_verify_sample_that_is_lost() -> None:
    run = sound_run()
    run.samples = [s for s in run.samples if not (s.phase == "verify" and s.contender == "go/std")]
    (finding,) = fired(run, "contract-not-checked")
    assert (finding.contender, finding.severity) == ("go/std", Severity.SUSPECT)


def test_a_phase_left_out_on_purpose_is_a_note() -> None:
    run = sound_run()
    run.samples = [s for s in run.samples if s.phase != "verify"]
    run.plan.phases = ["load"]
    assert {f.severity for f in fired(run, "contract-not-checked")} == {Severity.NOTE}


def test_a_check_that_could_not_be_carried_out_has_another_finding() -> None:
    run = sound_run()
    sample = next(s for s in run.samples if s.phase == "verify" and s.contender == "go/std")
    sample.checks, sample.failure = [], Failure(what="it did not start")
    assert not fired(run, "contract-not-checked")
