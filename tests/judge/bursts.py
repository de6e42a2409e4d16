"""Bursts beyond a capacity of 9,000 requests per second, for tests of the judge and of the report."""

from __future__ import annotations

from touchstone.record.evidence.capacity import BurstEvidence, BurstMoment, BurstStep
from touchstone.record.run import Run

from .capacities import search, with_search


def burst(goodput_2x: float, recovery_s: float | None, died: str | None = None) -> BurstEvidence:
    """A burst with a goodput at twice the capacity, in requests per second."""
    goodputs = {0.7: 6_300.0, 1.5: 9_000.0, 2.0: goodput_2x, 3.0: goodput_2x}
    steps = [BurstStep(factor=f, rate=9_000.0 * f, seconds=1.5, goodput=g, errors=0) for f, g in goodputs.items()]
    after = BurstStep(factor=0.7, rate=6_300.0, seconds=6.0, goodput=120.0 if recovery_s is None else 6_300.0, errors=0)
    return BurstEvidence(
        deadline_s=0.25,
        capacity=9_000.0,
        connections=256,
        steps=[*steps, after],
        failures={},
        statuses={},
        recovery_s=recovery_s,
        died=died,
        timeline=[BurstMoment(t=0.2 * n, sent=9_000.0, goodput=8_000.0) for n in range(1, 60)],
    )


def run_with(one: BurstEvidence) -> Run:
    """A run in which a contender's search ended with this burst."""
    found = search(9_000.0)
    found.burst = one
    return with_search(found, 9_000.0)
