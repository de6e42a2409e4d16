"""The curve around a knee: which rates it needs, and which the search came by already."""

from __future__ import annotations

from touchstone.phase.capacity.contender_search import ContenderSearch

SHARES = (0.05, 0.1, 0.25, 0.5, 0.7, 0.85, 0.95, 1.05, 1.2)
"""Shares of the capacity: from nearly idle to beyond it."""
_NEAR = 0.05


def missing_rates(seat: ContenderSearch) -> list[float]:
    """The rates that the curve still lacks, from the lowest. None past the ceiling, or below what trials carry."""
    capacity = seat.capacity
    if capacity is None:
        return []
    wanted = [capacity * share for share in SHARES]
    tried = [trial.rate for trial in seat.trials if trial.held is not None]
    return [
        rate
        for rate in wanted
        if seat.lowest <= rate < seat.search.ceiling and not any(abs(other / rate - 1) <= _NEAR for other in tried)
    ]
