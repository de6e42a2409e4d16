from touchstone.record.sample import ProofOutcome

from ..disturbances import disturbed
from ..sound import codes, fired


def proof(found: int) -> list[ProofOutcome]:
    return [ProofOutcome(says="each came once", query="hits", expected=100, found=found, passed=found == 100)]


def test_work_that_is_missing_or_done_twice_is_named_and_invalidates_nothing() -> None:
    for found in (99, 101):
        (finding,) = fired(disturbed(proofs=proof(found)), "work-wrong-after-fault")
        assert finding.statement == f"each came once: expected 100, the dependency says {found}"
        assert "work-not-done" not in codes(disturbed(proofs=proof(found)))


def test_a_proof_that_holds_says_nothing() -> None:
    assert not fired(disturbed(proofs=proof(100)), "work-wrong-after-fault")
