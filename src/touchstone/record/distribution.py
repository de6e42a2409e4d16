"""Distributions of times."""

from __future__ import annotations

from touchstone.record.base import EngineRecord


class Distribution(EngineRecord):
    """A latency distribution in seconds; its full histogram is base64 HdrHistogram V2 in units of `unit_s`."""

    count: int = 0
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    stdev: float | None = None
    p50: float | None = None
    p75: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    p99_99: float | None = None
    curve: list[tuple[float, float]] = []
    histogram: str | None = None
    unit_s: float = 1e-9
