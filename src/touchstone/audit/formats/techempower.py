"""TechEmpower's `results.json`: `rawData` by test and framework, a list in the order of the levels.

Source: the public results files of its rounds, and the documentation of its toolset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.audit.published import Publication, Published, number, seconds

_INTERVALS = {"query": "queryIntervals", "update": "queryIntervals", "cached-query": "cachedQueryIntervals",
              "cached_query": "cachedQueryIntervals"}  # fmt: skip
_UNANSWERED = ("connect", "read", "write", "timeout")
_PIPELINE = 16
"""The plaintext test sends sixteen requests at a time."""
_ONCE = ("measured-once", "each level is measured once: without a repetition there is no interval")


def recognises(document: object) -> bool:
    """Whether a document has this shape."""
    return isinstance(document, dict) and isinstance(document.get("rawData"), dict) and "concurrencyLevels" in document


def read(document: Mapping[str, Any], _name: str) -> Publication:
    """The entries, each level by itself."""
    made = [
        _result(document, test, framework, index, level)
        for test, frameworks in document["rawData"].items()
        if isinstance(frameworks, dict)
        for framework, levels in frameworks.items()
        if isinstance(levels, list)
        for index, level in enumerate(levels)
        if isinstance(level, dict) and "totalRequests" in level
    ]
    return Publication("TechEmpower", made, [_ONCE])


def _result(document: Mapping[str, Any], test: str, framework: str, index: int, level: Mapping[str, Any]) -> Published:
    connections, label = _level(document, test, index)
    duration = number(document.get("duration")) or _plain(document.get("duration"))
    total = int(number(level["totalRequests"]) or 0)
    begin, end = number(level.get("startTime")), number(level.get("endTime"))
    return Published(
        entry=framework,
        test=label,
        connections=connections,
        pipeline=_PIPELINE if test == "plaintext" else 1,
        rate=total / duration if duration else None,
        duration_s=duration,
        window_s=end - begin if begin is not None and end is not None else None,
        answered=total,
        errors=int(number(level.get("5xx")) or 0),
        unanswered=sum(int(number(level.get(key)) or 0) for key in _UNANSWERED),
        errors_in_rate=True,
        mean_s=seconds(level.get("latencyAvg")),
        max_s=seconds(level.get("latencyMax")),
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
