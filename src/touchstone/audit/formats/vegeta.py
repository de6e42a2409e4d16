"""vegeta's JSON report (`vegeta report -type=json`).

Source: its README, "report"; times are in nanoseconds, and the status 0 stands for requests without a response.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import ONCE, UNCHECKED
from touchstone.audit.published import Publication, Published, number

_NANO = 1e-9
_PERCENTILES = {"50th": 0.5, "90th": 0.9, "95th": 0.95, "99th": 0.99}


def recognises(document: object) -> bool:
    """Whether a document has this shape."""
    return isinstance(document, dict) and {"latencies", "status_codes", "throughput", "rate"} <= document.keys()


def read(document: Mapping[str, Any], name: str) -> Publication:
    """The one result: an open loop, whose `rate` is what was sent and whose `throughput` what succeeded."""
    latencies = document["latencies"]
    statuses = {str(code): int(count) for code, count in document["status_codes"].items()}
    right = sum(count for code, count in statuses.items() if code[0] in "23")
    times = {p: number(latencies.get(key)) for key, p in _PERCENTILES.items()}
    mean, highest = number(latencies.get("mean")), number(latencies.get("max"))
    spans = [number(document.get(key)) for key in ("duration", "wait")]
    sent = number(document["rate"])
    made = Published(
        entry=name,
        test="vegeta",
        rate=number(document["throughput"]),
        offered=sent * _attack(spans, number(latencies.get("99th"))) if sent is not None else None,
        duration_s=sum(span for span in spans if span is not None) * _NANO or None,
        answered=right,
        errors=sum(count for code, count in statuses.items() if code[0] in "145"),
        unanswered=statuses.get("0", 0),
        mean_s=mean * _NANO if mean is not None else None,
        percentiles={p: value * _NANO for p, value in times.items() if value is not None},
        max_s=highest * _NANO if highest is not None else None,
    )
    return Publication("vegeta", [made], [ONCE, UNCHECKED])


def _attack(spans: list[float | None], p99: float | None) -> float:
    """The attack's share of the time that `throughput` is over, which also holds the wait for the last response.

    A wait no longer than a usual response is no queue, and a short attack has not failed its rate by it.
    """
    duration, wait = spans
    return duration / (duration + wait) if duration and wait and p99 and wait <= p99 else 1.0
