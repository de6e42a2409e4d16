"""What the ids that reached the downstream prove: which messages came, how often, and whether in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Arrival = tuple[float, str]
"""When, in seconds on CLOCK_MONOTONIC, and the message's id: `partition-number`, numbered from 0 in each partition."""


@dataclass(frozen=True)
class ArrivalProof:
    """One drain, as the downstream saw it."""

    first: tuple[float, ...]
    """When each message came first, in the order of arrival."""
    by_partition: Mapping[int, tuple[float, ...]]
    """The same, by partition."""
    consumed: Mapping[int, int]
    """Messages that came, by partition, each counted once."""
    lost: int
    doubled: int
    out_of_order: int
    unknown: int
    """Arrivals of ids that were never produced."""


def prove_arrivals(produced: Mapping[int, int], arrivals: Sequence[Arrival]) -> ArrivalProof:
    """Hold the arrivals against what was produced, by partition.

    A message is out of order if a later one of its own partition came before it; of a message that came again, the
    first time counts.
    """
    seen: set[tuple[int, int]] = set()
    furthest: dict[int, int] = {}
    consumed: Counter[int] = Counter()
    first: list[float] = []
    by_partition: dict[int, list[float]] = {partition: [] for partition in produced}
    doubled = out_of_order = unknown = 0
    for at, name in arrivals:
        place = _place(name)
        if place is None or place[1] >= produced.get(place[0], 0):
            unknown += 1
            continue
        if place in seen:
            doubled += 1
            continue
        seen.add(place)
        first.append(at)
        partition, number = place
        by_partition[partition].append(at)
        consumed[partition] += 1
        out_of_order += number < furthest.get(partition, -1)
        furthest[partition] = max(number, furthest.get(partition, -1))
    return ArrivalProof(
        first=tuple(first),
        by_partition={partition: tuple(times) for partition, times in by_partition.items()},
        consumed={partition: consumed[partition] for partition in produced},
        lost=sum(produced.values()) - len(seen),
        doubled=doubled,
        out_of_order=out_of_order,
        unknown=unknown,
    )


def _place(name: str) -> tuple[int, int] | None:
    partition, _, number = name.partition("-")
    return (int(partition), int(number)) if partition.isdecimal() and number.isdecimal() else None
