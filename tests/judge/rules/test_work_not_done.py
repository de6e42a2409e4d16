from touchstone.judge.judgement import Severity
from touchstone.record.sample import ProofOutcome

from ..sound import fired, first_load, sound_run


def test_rows_that_are_missing() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.proofs = [ProofOutcome(says="rows equal successes", query="count", expected=100, found=1, passed=False)]
    (finding,) = fired(run, "work-not-done")
    assert finding.severity is Severity.INVALID
    assert "expected 100, the dependency says 1" in finding.statement


def test_a_proof_that_holds_within_what_is_uncertain() -> None:
    run = sound_run()
    proof = ProofOutcome(says="rows equal successes", query="count", expected=100, found=101, passed=True)
    first_load(run).proofs = [proof]
    assert not fired(run, "work-not-done")
