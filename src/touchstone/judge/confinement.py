"""Whether a contender stayed where it was put: read from `detail["confinement"]`, one account a start."""

from __future__ import annotations

from typing import Any

from touchstone.record.base import Record
from touchstone.record.sample import Sample


class Account(Record):
    """What was found at the end of one contender's life; empty where all was as it should be."""

    beyond_cpus: list[dict[str, Any]] = []
    """Threads that may run on CPUs that the contender was not given."""
    raised: list[dict[str, Any]] = []
    """Threads with a nice value below the lab's, or a real-time policy."""
    strays: list[dict[str, Any]] = []
    """Processes that had left its session and its cgroup."""
    left_cgroup: list[dict[str, Any]] = []
    """Processes of its tree outside of its cgroup."""
    memory_limit: int | None = None
    """The limit in bytes as it was found, where it is above the one that was set."""
    unmapped_shared: int = 0
    """Bytes of huge pages, and of shared memory that no process had mapped, at the most."""
    resident: int = 0
    """RSS of its processes at that moment."""


def accounts(sample: Sample) -> list[Account]:
    """The accounts recorded with a sample; none if there was nothing to say."""
    return [Account.model_validate(found) for found in sample.detail.get("confinement") or []]
