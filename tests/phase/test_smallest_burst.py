"""The smallest burst without recovery: planted lengths, and a server whose length is known."""

from __future__ import annotations

import pytest
from benchmarks.calibration.limited import limited, seat_at

from tests.judge.bursts import burst
from touchstone.phase.capacity.burst import burst_absences, burst_figures
from touchstone.phase.capacity.contender_search import ContenderSearch
from touchstone.phase.capacity.smallest_burst import SHORTEST_S, smallest_burst
from touchstone.record.evidence.capacity import BurstEvidence

STEP_S = 0.6


def service(limit_s: float) -> tuple[list[float], object]:
    """The lengths that are offered, and what offers them to a service that returns from shorter bursts than this."""
    offered: list[float] = []

    def offer(length_s: float) -> BurstEvidence:
        offered.append(length_s)
        return burst(4_000.0, 0.3 if length_s < limit_s else None)

    return offered, offer


@pytest.mark.parametrize("limit_s", [0.13, 0.5, 1.0, 2.9])
def test_a_planted_length_is_found_within_15_percent(limit_s: float) -> None:
    offered, offer = service(limit_s)
    found = smallest_burst(3.0, 6.0, offer)  # type: ignore[arg-type]
    assert found.stays_s is not None
    assert limit_s <= found.stays_s <= limit_s * 1.15
    assert found.offered == len(offered) <= 12


def test_a_service_that_returns_from_the_longest_has_none() -> None:
    _, offer = service(100.0)
    found = smallest_burst(3.0, 6.0, offer)  # type: ignore[arg-type]
    assert (found.stays_s, found.returns_s, found.offered) == (None, 3.0, 1)
    whole = burst(4_000.0, None)
    whole.smallest = found
    assert burst_absences(whole)["smallest_burst"] == "no burst of 2 times its capacity for 3 s kept it down"


def test_a_service_that_no_burst_is_short_enough_for() -> None:
    _, offer = service(0.0)
    found = smallest_burst(3.0, 6.0, offer)  # type: ignore[arg-type]
    assert (found.stays_s, found.returns_s) == (SHORTEST_S, None)


def test_a_service_that_ends_in_a_burst_is_not_asked_again() -> None:
    found = smallest_burst(3.0, 6.0, lambda length_s: burst(4_000.0, None, "exited with code 3"))
    assert (found.died, found.stays_s, found.offered) == ("exited with code 3", 3.0, 1)


def test_bursts_that_say_nothing_end_the_search() -> None:
    void = burst(4_000.0, None)
    void.void = "the engine was the limit"
    found = smallest_burst(3.0, 6.0, lambda length_s: void)
    assert (found.stays_s, found.offered) == (None, 2)
    whole = burst(4_000.0, None)
    whole.smallest = found
    assert burst_absences(whole)["smallest_burst"] == "too few of the 2 bursts of the search could be judged"


def test_a_search_that_void_bursts_end_early_has_no_length() -> None:
    void = burst(4_000.0, None)
    void.void = "the engine was the limit"
    first = iter([burst(4_000.0, None), burst(4_000.0, 0.3)])
    found = smallest_burst(3.0, 6.0, lambda length_s: next(first, void))
    assert (found.stays_s, found.returns_s, found.offered) == (None, None, 4)
    whole = burst(4_000.0, None)
    whole.smallest = found
    assert "smallest_burst" not in burst_figures(whole)
    assert burst_absences(whole)["smallest_burst"] == "too few of the 4 bursts of the search could be judged"


def test_a_server_that_keeps_the_work_of_clients_that_gave_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # A burst of L seconds at 2,000 per second leaves 1,000 L requests, and 300 per second of them are worked off: after
    # 4 * 0.6 s, of which the last second must be calm, those of 0.42 s at the most.
    with limited("tokens", "1000") as target:
        seat = seat_at(target, "p99 < 150ms", closed_rate=1_000.0)
        seat.name, seat.ended = "tokens/plain", "trials"
        monkeypatch.setattr(ContenderSearch, "capacity", 1_000.0)
        seat.offer_burst(0.25, STEP_S)
        assert seat.burst is not None
        assert seat.burst.recovery_s is None
        seat.search_smallest_burst(0.25, STEP_S)
    found = seat.burst.smallest
    assert found is not None
    assert found.stays_s is not None
    assert 0.3 < found.stays_s < 0.75
