"""A contender's contract, as every report counts it."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.record.sample import CheckOutcome, ProofOutcome
from touchstone.report.view import View


@dataclass(frozen=True)
class Contract:
    """A contender's contract."""

    contender: str
    checks: int
    """Checks of the contract, without repeats after starts and loads."""
    proofs: int
    broken: list[CheckOutcome]
    failed_proofs: list[ProofOutcome]


def contract_of(view: View, contender: str) -> Contract | None:
    """The checks and proofs of a contender over the run; None if none was made."""
    samples = [s for s in view.run.samples if s.contender == contender]
    checks = [check for s in samples for check in s.checks]
    proofs = [proof for s in samples for proof in s.proofs]
    if not checks and not proofs:
        return None
    asked = sum(len(s.checks) for s in samples if s.phase == "verify")
    broken: dict[str, CheckOutcome] = {}
    for check in checks:
        if not check.passed:
            broken.setdefault(check.id, check)
    failed = [proof for proof in proofs if not proof.passed]
    return Contract(contender, asked, len(proofs), list(broken.values()), failed)
