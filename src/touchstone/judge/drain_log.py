"""What a drain consumed, partition by partition: read from `detail["drain"]`."""

from __future__ import annotations

from touchstone.record.base import Record
from touchstone.record.sample import Sample


class DrainLog(Record):
    """Messages of one drain."""

    produced: dict[str, int] = {}
    """Messages in the topic, by partition."""
    consumed: dict[str, int] = {}
    """Messages processed, by partition, each counted once however often it came."""
    lost: int = 0
    doubled: int = 0
    out_of_order: int = 0
    """Messages that came after a later one of their own partition."""
    stood_still: dict[str, float] = {}
    """The share of each partition's time in which nothing of it was done, though messages waited in it."""


def drain_log(sample: Sample) -> DrainLog | None:
    """The log of a drain; None if the sample is none."""
    recorded = sample.detail.get("drain")
    return DrainLog.model_validate(recorded) if isinstance(recorded, dict) else None
