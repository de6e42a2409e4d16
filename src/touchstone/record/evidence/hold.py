"""Memory at each level of open connections."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import Record
from touchstone.record.hold_result import HoldLevel, HoldReading


class HeldLevel(Record):
    """Memory of the server with this number of connections open. Bytes."""

    connections: int
    asked: int | None = None
    answered: int | None = None
    failed: dict[str, int] = {}
    lost: dict[str, int] = {}
    open_rate: float | None = None
    """Connections opened and answered a second."""
    rss: int | None = None
    pss: int | None = None
    anon: int | None = None
    vm_peak: int | None = None
    kernel: float | None = None
    """The server's half of what the kernel holds for both ends."""


class RefusedLevel(Record):
    """A level that was not reached."""

    connections: int
    reason: str
    predicted: int | None = None
    bytes_per_connection: float | None = None
    available: int | None = None
    reserve: int | None = None


class HoldEvidence(Record):
    """The climb over levels."""

    kind: Literal["hold"] = "hold"
    levels: list[HeldLevel] = []
    """Levels that were reached."""
    refused: list[RefusedLevel] = []
    after_close: HoldReading | None = None
    engine_processes: int | None = None
    """Processes that held the connections."""
    raw: list[HoldLevel] = []
    """Every level as the engine tells it."""
