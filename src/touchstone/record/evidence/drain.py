"""What a drain consumed, partition by partition, as the downstream's log proves it."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from touchstone.record.base import Record


class DrainPoint(Record):
    """Messages done at a moment, in seconds since exec."""

    t: float
    done: int


class DrainEvidence(Record):
    """Messages of one drain. What is counted has no default: a record that lacks it cannot be read."""

    kind: Literal["drain"] = "drain"
    produced: dict[str, int]
    """Messages in the topic, by partition."""
    consumed: dict[str, int]
    """Messages processed, by partition, each counted once however often it came."""
    lost: int
    doubled: int
    out_of_order: int
    """Messages that came after a later one of their own partition."""
    unknown: int | None = None
    """Arrivals of ids that were never produced."""
    stood_still: dict[str, float] = {}
    """The share of each partition's time in which nothing of it was done, though messages waited in it."""
    progress: list[DrainPoint] = []
    """At most some 200 points."""
    ready_s: float | None = None
    """Seconds from exec to the first correct response; the next two count from there."""
    first_from_ready_s: float | None = None
    last_from_ready_s: float | None = None
    reported: JsonValue = None
    """What the service itself says it did: kept, and never counted."""
