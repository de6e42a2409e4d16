"""Stops to plant faults in: what a service did when it got SIGTERM."""

from __future__ import annotations

from typing import Any

from touchstone.record.evidence.stop import Outcomes, StopEvidence, StopResult
from touchstone.record.run import Run

from .sound import first_load, sound_run


def stopped(case: str = "in-flight", *, after: Outcomes | None = None, **more: Any) -> Run:
    """A sound run with one stop more: 12 requests answered after the signal, and an end after 20 ms."""
    run = sound_run()
    sample = first_load(run).model_copy(
        deep=True, update={"id": "stop-1", "phase": "stop", "load": case, "figures": {}, "proofs": []}
    )
    own = set(StopEvidence.model_fields)
    evidence = {name: more.pop(name) for name in list(more) if name in own}
    result = StopResult(**{"stop_s": 0.02, "after": after or Outcomes(right=12), **more})
    sample.evidence = StopEvidence(case=case, within_s=10.0, result=result, **evidence)
    run.samples.append(sample)
    return run
