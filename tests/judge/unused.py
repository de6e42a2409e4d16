"""Dependencies that a load does not use: only the contract's requests inside the load did."""

from __future__ import annotations

from touchstone.record.sample import DependencyState, Sample
from touchstone.vocabulary.dependency import DEPENDENCIES


def asked_for_the_contract_alone(sample: Sample, kind: str, ceiling: float) -> DependencyState:
    """A dependency with one session and work for 21 of the load's 10,000 responses."""
    assert sample.result is not None
    sample.result.totals.ok = 10_000
    counters = [name for counter in DEPENDENCIES[kind].work for name in counter.counters]
    state = DependencyState(name="dependency", kind=kind, sessions_peak=1, ceiling=ceiling)
    state.before, state.after = dict.fromkeys(counters, 3.0), dict.fromkeys(counters, 24.0)
    return state
