"""The figures of a load with faults: of several faults the worst."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.contract.proof import Tally, counts_work
from touchstone.manifest.load import Load
from touchstone.phase.disturb.reading import highest
from touchstone.record.evidence.disturb import DisturbEvidence
from touchstone.record.sample import ProofOutcome


def disturb_figures(evidence: DisturbEvidence) -> tuple[dict[str, float], dict[str, str]]:
    """Figures in seconds, shares and counts, and the reason for each missing figure."""
    faults = evidence.faults
    worst = {
        "disturb_errors": highest(fault.needing.error_share for fault in faults),
        "disturb_p99": highest(fault.needing.p99 for fault in faults),
        "disturb_other_errors": highest(fault.others.error_share for fault in faults),
        "disturb_other_p99": highest(fault.others.p99 for fault in faults),
        "disturb_amplification": highest(evidence.amplification(fault) for fault in faults),
        "disturb_sessions_left": highest(after - before for before, after in evidence.sessions.values()),
        "disturb_threads_left": evidence.threads[1] - evidence.threads[0] if evidence.threads else None,
        "disturb_work_lost": evidence.work[0] if evidence.work else None,
        "disturb_work_doubled": evidence.work[1] if evidence.work else None,
    }
    missing: dict[str, str] = {}
    if all(fault.recovery_s is not None for fault in faults):
        worst["disturb_recovery"] = highest(fault.recovery_s for fault in faults)
    else:
        why = f"the service {evidence.died}" if evidence.died else "it had not recovered when the load ended"
        missing["disturb_recovery"] = why
    if not any(fault.needing.sent for fault in faults):
        why = "no request of the load needs a dependency that failed"
        missing |= dict.fromkeys(("disturb_errors", "disturb_p99"), why)
    if not any(fault.others.sent for fault in faults):
        why = "every request of the load needs the dependency that failed"
        missing |= dict.fromkeys(("disturb_other_errors", "disturb_other_p99"), why)
    return {name: float(max(0.0, value)) for name, value in worst.items() if value is not None}, missing


def lost_and_doubled(load: Load, outcomes: Sequence[ProofOutcome], whole: Tally) -> tuple[int, int] | None:
    """Units of work that right responses lack, and units beyond the requests sent. None where no proof counts work."""
    asked = {proof.says: whole.of(proof).uncertain for proof in load.proofs if counts_work(proof)}
    counted = [
        (outcome.found - outcome.expected, asked[outcome.says])
        for outcome in outcomes
        if outcome.says in asked
        and isinstance(outcome.found, int | float)
        and isinstance(outcome.expected, int | float)
    ]
    if not counted:
        return None
    lost, doubled = max(-more for more, _ in counted), max(more - uncertain for more, uncertain in counted)
    return max(0, round(lost)), max(0, round(doubled))
