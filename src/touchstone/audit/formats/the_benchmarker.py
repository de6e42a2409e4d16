"""the-benchmarker's `data.json`: `metrics`, one object per framework, level and label; `frameworks` with their names.

Source: the public `data.json` of its repository. Latencies are in microseconds, and so is `duration_ms`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.shape import JsonDocument
from touchstone.audit.published import Cause, PublishedResult, count, number, scaled

_UNANSWERED = ("request_timeouts", "socket_connection_errors", "socket_read_errors", "socket_write_errors")
_MICRO = 1e-6
_LONGEST_RUN_S = 3600.0
"""A level runs for some seconds; a duration of hours in milliseconds is one of seconds in microseconds."""
_AVERAGED = (
    "percentiles-averaged",
    "percentiles are averaged over runs, which gives the percentile of none, and no spread is published",
)
_UNIT = ("unit-mislabelled", "`duration_ms` holds microseconds: taken as milliseconds a level would run for hours")


def _recognises(document: object) -> bool:
    """Whether a document has this shape."""
    metrics = document.get("metrics") if isinstance(document, dict) else None
    first = metrics[0] if isinstance(metrics, list) and metrics else None
    return isinstance(first, dict) and {"framework_id", "label", "level", "value"} <= first.keys()


def _read(document: Mapping[str, Any], _name: str) -> list[PublishedResult]:
    """The entries, each level by itself."""
    names = {f.get("id"): str(f.get("label")) for f in document.get("frameworks", []) if isinstance(f, dict)}
    found: dict[tuple[object, int], dict[str, float]] = defaultdict(dict)
    for metric in document["metrics"]:
        value = number(metric.get("value"))
        if value is not None:
            found[metric["framework_id"], int(metric["level"])][str(metric["label"])] = value
    fractions = any(v % 1 for values in found.values() for k, v in values.items() if k.startswith("percentile_"))
    hours = any(values.get("duration_ms", 0.0) / 1000 > _LONGEST_RUN_S for values in found.values())
    causes = (*([_AVERAGED] if fractions else []), *([_UNIT] if hours else []))
    return [_result(names.get(i, f"framework {i}"), level, values, causes) for (i, level), values in found.items()]


def _result(name: str, level: int, values: Mapping[str, float], causes: tuple[Cause, ...]) -> PublishedResult:
    duration = values.get("duration_ms")
    scale = 1e-3 if duration is not None and duration / 1000 <= _LONGEST_RUN_S else _MICRO
    percentiles = {
        float(label.removeprefix("percentile_")) / 100: value * _MICRO
        for label, value in values.items()
        if label.startswith("percentile_")
    }
    lost = [values[key] for key in _UNANSWERED if key in values]
    return PublishedResult(
        ranked=True,
        entry=name,
        test=f"{level} connections",
        tool="the-benchmarker",
        connections=level,
        rate=values.get("total_requests_per_s"),
        duration_s=scaled(duration, scale),
        answered=count(values.get("total_requests")),
        errors=count(values.get("http_errors")),
        unanswered=round(sum(lost)) if lost else None,
        errors_in_rate=True,
        mean_s=scaled(values.get("average_latency"), _MICRO),
        percentiles=percentiles,
        max_s=scaled(values.get("maximum_latency"), _MICRO),
        causes=causes,
    )


SHAPES = [JsonDocument("the-benchmarker", _recognises, _read)]
