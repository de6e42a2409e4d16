"""Loads with faults to plant behaviours in: what a service did while its dependency stalled."""

from __future__ import annotations

from typing import Any

from touchstone.record.engine import LoadResult, Window
from touchstone.record.evidence.disturb import DisturbEvidence, FaultEvidence, Meanwhile
from touchstone.record.run import Run

from .sound import first_load, sound_run

CALM = Meanwhile(names=["order"], sent=300, p90=0.004, p99=0.008, max=0.01)
OTHERS = Meanwhile(names=["ping"], sent=300, p90=0.002, p99=0.004, max=0.01)


def disturbed(needing: Meanwhile = CALM, others: Meanwhile = OTHERS, **more: Any) -> Run:
    """A sound run with one load more, of 10 s: a stall from 3 to 5 s that moved nothing, and 0.1 s to recover."""
    run = sound_run()
    own = {name: more.pop(name) for name in ("began_s", "ended_s", "recovery_s") if name in more}
    rates = {name: more.pop(name) for name in ("turns_per_s", "connects_per_s") if name in more}
    sample = first_load(run).model_copy(
        deep=True, update={"id": "disturb-1", "phase": "disturb", "figures": {}, "proofs": more.pop("proofs", [])}
    )
    fault = {"dependency": "database", "act": "stall", "in_words": "database stalls", "at_s": 3.0, "for_s": 2.0}
    times = {"began_s": 3.0, "ended_s": 5.0, "recovery_s": 0.1} | own
    sample.evidence = DisturbEvidence(
        **{
            "result": LoadResult(window=Window(measured_s=10.0)),
            "calm_needing": {"database": CALM},
            "calm_others": {"database": OTHERS},
            "end_needing": {"database": CALM},
            "calm_turns_per_s": {"database": 100.0},
            "calm_connects_per_s": {"database": 0.0},
            "faults": [FaultEvidence(**fault, **times, **rates, needing=needing, others=others)],
            **more,
        }
    )
    run.samples.append(sample)
    return run
