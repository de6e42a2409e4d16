"""The machine around one sample, before and after: read from `detail["machine"]`, all of it optional."""

from __future__ import annotations

from touchstone.record.base import Record
from touchstone.record.sample import Sample


class MachineState(Record):
    """What changed on the machine between a sample's begin and end. None where it was not read."""

    wall_s: float | None = None
    """Elapsed by the wall clock (CLOCK_REALTIME)."""
    monotonic_s: float | None = None
    """Elapsed by the clock that no one sets (CLOCK_MONOTONIC), read at the same two moments."""
    swap_in_pages: int | None = None
    swap_out_pages: int | None = None
    frequency_mhz_before: list[float] = []
    frequency_mhz_after: list[float] = []
    memory_limit_hits: int | None = None
    """How often the contender's cgroup ran into its limit (v2 memory.events `max`, v1 `failcnt`)."""
    oom_kills: int | None = None
    kernel: str | None = None


def machine_state(sample: Sample) -> MachineState:
    """The state recorded with a sample; empty if none was."""
    return MachineState.model_validate(sample.detail.get("machine") or {})
