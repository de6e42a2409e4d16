"""Loads with faults of dependencies: what became of requests while one failed, and afterwards."""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.record.evidence.disturb import DisturbEvidence
from touchstone.record.sample import Sample


def disturbances(samples: Iterable[Sample]) -> list[DisturbEvidence]:
    """The loads with faults, those that were carried out."""
    return [sample.disturb for sample in samples if sample.disturb is not None]
