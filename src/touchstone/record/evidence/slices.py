"""Evidence of a load in slices: each slice, and how the warm-up ended. See docs/engine-protocol.md."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import AliasChoices, Field, model_validator

from touchstone.record.base import Record
from touchstone.record.connections import Sent
from touchstone.record.load_1 import upgraded_slice
from touchstone.record.other_process import OtherProcess, other_processes_field

IDLE_CPUS = 0.01
"""CPUs that timers and idle threads of a runtime use at the most. Who uses less in the slices of others rests in them,
however little its own requests need."""


LEAST_KEPT_LAPS = 4
"""With fewer slices the one in the middle says little of the rest."""
LEAST_LEFT = 0.05
"""Share of a CPU below which one tick of the kernel's clock is half of it."""


class Generations(Record):
    """Right responses between the ends of a slice's first and last complete generation."""

    responses: int
    seconds: float
    first_s: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """How long the first generation took, which found the contender at rest; None in older records."""


class SliceLatency(Record):
    """Latencies of a slice, in seconds; requests of its first generation are left out."""

    count: int
    p50: float | None = None
    p99: float | None = None
    max: float | None = None


class Slice(Record):
    """One slice of one contender. Times are seconds since the start of the job."""

    index: int
    lap_phase: Literal["warmup", "load"]
    begin: float
    began_s: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """How long after `begin` the last generator began; None where the load comes from the server's machine."""
    sending_end: float
    end: float
    sent: int = 0
    completed: int = 0
    ok: int = 0
    errors: dict[str, int] = {}
    """Requests without a correct response, by class."""
    connection_errors: dict[str, int] = Field(default={}, exclude_if=lambda errors: not errors)
    """The same of connections, which are not requests."""
    repeated: int = Field(default=0, exclude_if=lambda count: not count)
    unsent: int = Field(default=0, exclude_if=lambda count: not count)
    """Open loop: requests that were due and never sent, because no connection was free or could be opened."""
    generations: Generations | None = None
    rate: float | None = None
    """Right responses per second over whole generations; None where fewer than two ended."""
    latency: SliceLatency | None = None
    offered: float | None = None
    server_cpu_s: float | None = None
    """CPU of the contender's process tree from `begin` to the end of the gap that follows."""
    others_cpu_s: list[float | None] | None = None
    """What each other contender used meanwhile, in the job's order; None for itself and where nobody watched."""
    disk_waits_s: list[float] = Field(default=[], exclude_if=lambda waits: not waits)
    """Seconds in which each contender waited for a disk, in the job's order; empty if none did."""
    engine_cpu_s: float | None = None
    engine_delayed_s: float | None = None
    steal_s: float | None = None
    other_cpu_s: float | None = None
    taken_here: float | None = Field(default=None, exclude_if=lambda share: share is None)
    """The share of the contender's own CPUs' time that others and the host had; None where the engine or a dependency
    works there too."""
    reference_s: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """What a fixed piece of work took on the contender's CPUs meanwhile: longer where a core was slower."""
    other_processes: list[OtherProcess] = other_processes_field()
    """The processes that used most of `other_cpu_s`, the largest first."""
    dependencies_cpu_s: dict[str, float] | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """By dependency, as `server_cpu_s`; None if none has a process of its own."""
    network: Sent | None = Field(default=None, exclude_if=lambda sent: sent is None)
    """What all sockets of the machine sent meanwhile."""
    lap: int | None = None
    """The lap that the turn belongs to, from 0; None in the warm-up."""
    unbroken: bool = Field(default=False, exclude_if=lambda unbroken: not unbroken)
    """A part of the stretch at the end of the warm-up that shows whether the contender keeps its pace without rests."""

    @model_validator(mode="before")
    @classmethod
    def _upgrade(cls, data: Any) -> Any:
        return upgraded_slice(data) if isinstance(data, dict) else data

    @property
    def left_here(self) -> float | None:
        """Return the share of its CPUs' time that other processes left to the contender. None if not known."""
        return None if self.taken_here is None else max(LEAST_LEFT, 1 - self.taken_here)


def _optional(name: str, earlier: str) -> Any:
    """Return a field that is None by default and not written then. Older records have it by the earlier name."""
    return Field(default=None, validation_alias=AliasChoices(name, earlier), exclude_if=lambda value: value is None)


class WarmUp(Record):
    """The warm-up of a contender before its measured slices."""

    ended: Literal["flat", "budget", "died"]
    """`flat`: it had stopped getting faster, and did nothing while it rested. `budget`: the profile's time was used up
    before. `died`: it gave no correct response any more.
    """
    seconds: float
    """Seconds of its own load."""
    requests: int
    growth: float | None = None
    """The rate of the last stretch over that of the stretch before, less 1; None if there were too few slices."""
    cpu_saved: float | None = _optional("cpu_saved", "relief")
    """The share by which CPU per request fell from the stretch before to the last one; None if not measured."""
    busy_without_load: bool | None = _optional("busy_without_load", "restless")
    """Whether it still used CPU in its last pause; None if it had no pause."""
    first_cpu_ratio: float | None = _optional("first_cpu_ratio", "eased")
    """CPU per request of its first slice, divided by that at the end; None if not measured."""


class SlicesEvidence(Record):
    """One contender under one load of one round."""

    order: list[str]
    """The contenders of the job, in its order: what `others_cpu_s` counts by."""
    slice_s: float
    warm_up: WarmUp | None = None
    slices: list[Slice] = []

    @property
    def counted(self) -> list[Slice]:
        """Return the measured slices, without those of the warm-up."""
        return [one for one in self.slices if one.lap is not None]

    @property
    def lap_rates(self) -> list[float]:
        """Right responses per second of each slice that counts, where it is known."""
        return [one.rate for one in self.counted if one.rate]

    @property
    def late_parts(self) -> list[Slice]:
        """Return the second half of the stretch without a pause, when limited resources are used up."""
        parts = [one for one in self.slices if one.unbroken]
        return parts[len(parts) // 2 :]

    @property
    def unbroken_s(self) -> float:
        """Return the seconds of load without a pause; 0 if there was none."""
        return sum(one.end - one.begin for one in self.slices if one.unbroken)

    @property
    def unbroken_rate(self) -> float:
        """Right responses per second late in the stretch without a rest. 0 where nobody looked, or nothing came."""
        rates = [part_rate(one) for one in self.late_parts]
        return statistics.median(rates) if rates else 0.0

    @property
    def kept(self) -> float | None:
        """Return the rate without pauses divided by that in slices.

        None if not measured.

        In a closed loop its rate over that of the slice in the middle. In an open loop the share of right responses
        over that in the slices or, where half of the responses take longer than the slices' 99th percentile, the median
        latency of the slices over the one without rests.
        """
        parts, laps = self.late_parts, self.counted
        if not parts or len(laps) < LEAST_KEPT_LAPS:
            return None
        if parts[0].offered is None:
            rates, unbroken = self.lap_rates, self.unbroken_rate
            return unbroken / statistics.median(rates) if unbroken and len(rates) >= LEAST_KEPT_LAPS else None
        usual = _right_share(laps)
        return min(_right_share(parts) / usual, _pace_kept(parts, laps)) if usual > 0 else None


def part_rate(one: Slice) -> float:
    """Right responses per second; of a slice without whole generations, over the whole slice."""
    return one.rate if one.rate is not None else one.ok / max(one.end - one.begin, 1e-9)


def _right_share(slices: Sequence[Slice]) -> float:
    """The share of the requests due that were answered rightly."""
    due = sum(one.sent + one.unsent for one in slices)
    return sum(one.ok for one in slices) / due if due else 0.0


def _pace_kept(parts: Sequence[Slice], laps: Sequence[Slice]) -> float:
    """Return the slices' median latency divided by that without pauses.

    It is 1 if the latter is within the slices' range.
    """
    now = [one.latency.p50 for one in parts if one.latency is not None and one.latency.p50]
    usual = [one.latency.p50 for one in laps if one.latency is not None and one.latency.p50]
    slow = [one.latency.p99 for one in laps if one.latency is not None and one.latency.p99]
    if not now or not usual or not slow or statistics.median(now) <= statistics.median(slow):
        return 1.0
    return statistics.median(usual) / statistics.median(now)
