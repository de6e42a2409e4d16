"""Small made-up files in the shapes that others publish; without fault unless a test plants one."""

from __future__ import annotations

from typing import Any


def arena(**changed: Any) -> dict[str, Any]:
    """An entry of HttpArena: 100 connections, 20,000/s for 5 s, 5 ms each."""
    return {
        "framework": "alpha",
        "language": "Go",
        "rps": 20_000,
        "avg_latency": "5.00ms",
        "p99_latency": "9.10ms",
        "cpu": "200.0%",
        "connections": 100,
        "threads": 4,
        "duration": "5s",
        "pipeline": 1,
        "reconnects": 0,
        "status_2xx": 100_000,
        "status_3xx": 0,
        "status_4xx": 0,
        "status_5xx": 0,
    } | changed


def techempower(test: str = "json", **changed: Any) -> dict[str, Any]:
    """A `results.json` with one framework at two levels: 64 and 128 connections."""
    level = {
        "latencyAvg": "3.10ms",
        "latencyStdev": "1.00ms",
        "latencyMax": "40.00ms",
        "totalRequests": 300_000,
        "startTime": 1_700_000_000,
        "endTime": 1_700_000_015,
    }
    second = level | {"latencyAvg": "6.20ms"}
    return {
        "concurrencyLevels": [64, 128],
        "pipelineConcurrencyLevels": [256, 1024],
        "queryIntervals": [1, 20],
        "duration": 15,
        "rawData": {test: {"alpha": [level | changed, second]}, "slocCounts": {"alpha": 10}},
    }


def benchmarker(**changed: float) -> dict[str, Any]:
    """A `data.json` with one framework at 64 connections."""
    values = {
        "total_requests": 300_000.0,
        "total_requests_per_s": 20_000.0,
        "average_latency": 3_100.0,
        "percentile_50": 3_000.0,
        "percentile_99": 8_000.0,
        "percentile_99.999": 20_000.0,
        "maximum_latency": 21_000.0,
        "duration_ms": 15_000.0,
        "http_errors": 0.0,
        "request_timeouts": 0.0,
    } | {key.replace("__", "."): value for key, value in changed.items()}
    metrics = [{"level": 64, "label": key, "value": value, "framework_id": 7} for key, value in values.items()]
    return {"metrics": metrics, "frameworks": [{"id": 7, "label": "alpha", "language": "go", "version": 1.0}]}
