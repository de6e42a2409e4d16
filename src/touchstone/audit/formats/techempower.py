"""TechEmpower's `results.json`: `rawData` by test and framework, a list in the order of the levels.

Source: the public results files of its rounds, and the documentation of its toolset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.shape import JsonDocument
from touchstone.audit.formats.wrk import FILLED_IN, PIPELINED, least_mean
from touchstone.audit.published import PublishedResult, count, number, seconds, text

_INTERVALS = {"query": "queryIntervals", "update": "queryIntervals", "cached-query": "cachedQueryIntervals",
              "cached_query": "cachedQueryIntervals"}  # fmt: skip
_UNANSWERED = ("connect", "read", "write", "timeout")
_PIPELINE = 16
"""The plaintext test sends sixteen requests at a time."""
_ONCE = ("measured-once", "each level is measured once: without a repetition there is no interval")


def _recognises(document: object) -> bool:
    """Whether a document has this shape."""
    return isinstance(document, dict) and isinstance(document.get("rawData"), dict) and "concurrencyLevels" in document


def _read(document: Mapping[str, Any], _name: str) -> list[PublishedResult]:
    """The entries, each level by itself."""
    return [
        _result(document, test, framework, index, level)
        for test, frameworks in document["rawData"].items()
        if isinstance(frameworks, dict)
        for framework, levels in frameworks.items()
        if isinstance(levels, list)
        for index, level in enumerate(levels)
        if isinstance(level, dict) and "totalRequests" in level
    ]


def _result(
    document: Mapping[str, Any], test: str, framework: str, index: int, level: Mapping[str, Any]
) -> PublishedResult:
    connections, label = _level(document, test, index)
    duration = number(document.get("duration")) or _plain(document.get("duration"))
    mean_s, max_s = seconds(level.get("latencyAvg")), seconds(level.get("latencyMax"))
    total = count(level["totalRequests"])
    begin, end = number(level.get("startTime")), number(level.get("endTime"))
    return PublishedResult(
        ranked=True,
        entry=framework,
        test=label,
        tool="TechEmpower",
        machine=text(document.get("environmentDescription")) or None,
        measured_at=end,
        connections=connections,
        pipeline=_PIPELINE if test == "plaintext" else 1,
        rate=total / duration if duration and total is not None else None,
        duration_s=duration,
        window_s=end - begin if begin is not None and end is not None else None,
        answered=total,
        # The toolset leaves out the counts that are zero.
        errors=count(level.get("5xx")) or 0,
        unanswered=sum(count(level.get(key)) or 0 for key in _UNANSWERED),
        errors_in_rate=True,
        mean_s=mean_s,
        max_s=max_s,
        least_mean_s=least_mean(
            mean_s, {}, max_s, connections * duration / total if connections and duration and total else None
        ),
        lawless=PIPELINED if test == "plaintext" else None,
        causes=(_ONCE, FILLED_IN),
    )


def _level(document: Mapping[str, Any], test: str, index: int) -> tuple[int | None, str]:
    """Connections, and the test with what tells the level from its neighbours."""
    levels = document.get("pipelineConcurrencyLevels" if test == "plaintext" else "concurrencyLevels") or []
    if test in _INTERVALS:
        steps = document.get(_INTERVALS[test]) or []
        return max(levels, default=None), f"{test} x{steps[index] if index < len(steps) else index}"
    connections = int(levels[index]) if index < len(levels) else None
    return connections, f"{test}, {connections} connections" if connections else f"{test}, level {index}"


def _plain(text: object) -> float | None:
    return float(text) if isinstance(text, str) and text.replace(".", "", 1).isdigit() else None


SHAPES = [JsonDocument("TechEmpower", _recognises, _read)]
