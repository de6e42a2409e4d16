"""the-benchmarker's `data.json`: `metrics`, one object per framework, level and label; `frameworks` with their names.

Source: the public `data.json` of its repository. Latencies are in microseconds, and so is `duration_ms`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from touchstone.audit.published import Publication, Published, number

_UNANSWERED = ("request_timeouts", "socket_connection_errors", "socket_read_errors", "socket_write_errors")
_MICRO = 1e-6
_LONGEST_RUN_S = 3600.0
"""A level runs for some seconds; a duration of hours in milliseconds is one of seconds in microseconds."""
_AVERAGED = (
    "percentiles-averaged",
    "percentiles are averaged over runs, which gives the percentile of none, and no spread is published",
)
_UNIT = ("unit-mislabelled", "`duration_ms` holds microseconds: taken as milliseconds a level would run for hours")


def recognises(document: object) -> bool:
    """Whether a document has this shape."""
    metrics = document.get("metrics") if isinstance(document, dict) else None
    first = metrics[0] if isinstance(metrics, list) and metrics else None
    return isinstance(first, dict) and {"framework_id", "label", "level", "value"} <= first.keys()


def read(document: Mapping[str, Any], _name: str) -> Publication:
    """The entries, each level by itself."""
    names = {f.get("id"): str(f.get("label")) for f in document.get("frameworks", []) if isinstance(f, dict)}
    found: dict[tuple[object, int], dict[str, float]] = defaultdict(dict)
    for metric in document["metrics"]:
        value = number(metric.get("value"))
        if value is not None:
            found[metric["framework_id"], int(metric["level"])][str(metric["label"])] = value
    made = [_result(names.get(i, f"framework {i}"), level, values) for (i, level), values in found.items()]
    fractions = any(v % 1 for values in found.values() for k, v in values.items() if k.startswith("percentile_"))
    hours = any(values.get("duration_ms", 0.0) / 1000 > _LONGEST_RUN_S for values in found.values())
    return Publication("the-benchmarker", made, [*([_AVERAGED] if fractions else []), *([_UNIT] if hours else [])])


def _result(name: str, level: int, values: Mapping[str, float]) -> Published:
    duration = values.get("duration_ms")
    scale = 1e-3 if duration is not None and duration / 1000 <= _LONGEST_RUN_S else _MICRO
    percentiles = {
        float(label.removeprefix("percentile_")) / 100: value * _MICRO
        for label, value in values.items()
        if label.startswith("percentile_")
    }
    mean, highest = values.get("average_latency"), values.get("maximum_latency")
    errors = values.get("http_errors")
    total = values.get("total_requests")
    return Published(
        entry=name,
        test=f"{level} connections",
        connections=level,
        rate=values.get("total_requests_per_s"),
        duration_s=duration * scale if duration is not None else None,
        answered=round(total) if total is not None else None,
        errors=round(errors) if errors is not None else None,
        unanswered=round(sum(values.get(key, 0.0) for key in _UNANSWERED)),
        errors_in_rate=True,
        mean_s=mean * _MICRO if mean is not None else None,
        percentiles=percentiles,
        max_s=highest * _MICRO if highest is not None else None,
    )
