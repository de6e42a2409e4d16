"""The figures of a stop, from what the engine and the dependencies say."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.contract.proof import counts_work
from touchstone.manifest.load import Load
from touchstone.record.evidence.stop import StopEvidence
from touchstone.record.sample import ProofOutcome


def stop_figures(evidence: StopEvidence) -> tuple[dict[str, float], dict[str, str]]:
    """Figures in seconds and request counts, and the reason for each missing figure."""
    figures: dict[str, float] = {}
    missing: dict[str, str] = {}
    result = evidence.result
    if result.stop_s is None:
        missing["stop_s"] = f"the process had not ended {evidence.within_s:g} s after SIGTERM"
    else:
        figures["stop_s"] = result.stop_s
    if (after := result.from_signal).sent:
        figures |= {
            "stop_lost": float(after.lost),
            "stop_stale": float(after.closed_under),
            "stop_refused": float(after.turned_away),
        }
    if result.streams.open:
        figures["stop_streams_cut"] = float(result.streams.cut)
    if (handover := result.handover) is not None:
        figures["stop_gap"] = handover.gap_s
        if handover.both_bytes is None:
            missing["stop_memory_both"] = "the page tables of its processes could not be read"
        else:
            figures["stop_memory_both"] = float(handover.both_bytes)
    if evidence.unanswered_work is not None:
        figures["stop_unanswered_work"] = float(evidence.unanswered_work)
    return figures, missing


def unanswered_work(load: Load, proofs: Sequence[ProofOutcome], right: int) -> int | None:
    """Units of work that were done beyond the right responses. None where no proof of the load counts work."""
    counting = {proof.says for proof in load.proofs if counts_work(proof)}
    found = [proof.found for proof in proofs if proof.says in counting and isinstance(proof.found, int | float)]
    return max(0, round(max(found)) - right) if found else None
