"""The search of the memory floor, trial by trial."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import Record


class FloorTry(Record):
    """One memory limit that was tried with one setting of the heap. Bytes, requests per second, seconds."""

    limit: int
    setting: str = ""
    lives: bool
    passes: bool
    rate: float | None = None
    p99: float | None = None
    death: str | None = None
    share: float | None = None
    """Its rate over that without a limit."""
    peak: int | None = None
    """Bytes that it took at most under its load; of several loads, the most. None where it did not live."""


class FloorEvidence(Record):
    """How the two floors were found."""

    kind: Literal["floor"] = "floor"
    share: float
    """The share of the rate without a limit that a limit must keep."""
    unlimited_rates: list[float | None]
    """Requests a second without a limit: before the search, and the last one after it."""
    tries: list[FloorTry]
    unlimited_rate: float | None = None
    """The median of those before the search."""
    unlimited_peak: int | None = None
    """Bytes at most, without a limit."""
    wanted_rate: float | None = None
    passes_with: str | None = None
    """The setting of the heap that passes at the floor."""
    lives_with: str | None = None
    contract: dict[str, str] = {}
    """By limit: `holds`, or what broke the contract there."""
