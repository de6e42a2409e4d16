"""What the engine says of a hold job: docs/engine-protocol.md is the reference. Seconds, bytes, counts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue

from touchstone.record.base import Record
from touchstone.record.connections import ClosedByServer
from touchstone.record.secret import shown_job
from touchstone.record.watch import TreeMemory


class HoldMemory(TreeMemory):
    """Sums over process trees."""

    rss: int
    cpu_s: float | None = None


class KernelMemory(Record):
    """The kernel's own memory for sockets, both ends."""

    tcp_in_use: int | None = None
    tcp_allocated: int | None = None
    tcp_time_wait: int | None = None
    tcp_buffers: int | None = None
    slabs: dict[str, int] | None = None
    """Bytes by slab of those that connections need."""
    slab: int | None = None
    memory_free: int | None = None
    memory_available: int | None = None
    memory_total: int | None = None


class HoldReading(Record):
    """Memory on all sides at one moment."""

    server: HoldMemory
    client: HoldMemory | None = None
    kernel: KernelMemory = KernelMemory()


class HoldTraffic(Record):
    """Requests over held connections."""

    requests: int
    ok: int
    connections_used: int | None = None
    seconds: float | None = None
    slowest_s: float | None = None
    server_rss_peak: int | None = None
    server_cpu_s: float | None = None
    reading: HoldReading | None = None


class HoldRefusal(Record):
    """Why a level was not reached."""

    reason: str
    predicted: int | None = None
    bytes_per_connection: float | None = None
    available: int | None = None
    reserve: int | None = None


class HoldLevel(Record):
    """A number of connections and what they took."""

    connections: int
    held: int
    established: int | None = None
    answered: int | None = None
    failed: dict[str, int] = {}
    lost: dict[str, int] = {}
    closed: ClosedByServer | None = Field(default=None, exclude_if=lambda closed: closed is None)
    """Connections that the server closed as it may; no failures."""
    evidence: str | None = None
    """The first thing that went wrong."""
    open_s: float | None = None
    open_rate: float | None = None
    slowest_s: float | None = None
    idle: HoldReading | None = None
    traffic: HoldTraffic | None = None
    refused: HoldRefusal | None = None

    @property
    def reading(self) -> HoldReading | None:
        """Memory on all sides: under traffic where there was some, at rest otherwise."""
        return self.traffic.reading if self.traffic else self.idle


class HoldResult(Record):
    """The whole result of `touchstone-engine hold`."""

    schema_: str = Field(default="touchstone.hold/1", alias="schema")
    job: Annotated[dict[str, Any], AfterValidator(shown_job)] = {}
    levels: list[HoldLevel] = []
    after_close: HoldReading | None = None
    processes: int = 1
    connections_per_process: int | None = None
    """At most, by the limit of open files."""
    interrupted: bool = False
    server_exited: JsonValue = None
