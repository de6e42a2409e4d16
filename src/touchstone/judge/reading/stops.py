"""Stops: how a service ended while it had clients."""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.record.evidence.stop import Outcomes, StopEvidence
from touchstone.record.sample import Sample


def stops(samples: Iterable[Sample]) -> list[StopEvidence]:
    """The stops in which the service got SIGTERM."""
    return [s.stop for s in samples if s.stop is not None and s.stop.result.failure is None]


def from_signal(ends: Iterable[StopEvidence]) -> Outcomes:
    """Requests of all stops that had not ended at the signal, by what became of them."""
    return sum((end.result.from_signal for end in ends), Outcomes())
